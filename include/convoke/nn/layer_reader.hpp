#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/nn/initializer.hpp"
#include "convoke/nn/window.hpp"

namespace convoke::nn {

/// A key of a layer, as the guide shows it.
struct LayerKey {
  std::string name;
  std::string kind;  ///< "integer", "number or [height, width]", ...
  bool required = false;
  std::optional<Value> fallback;  ///< its default; empty: without the key the layer decides
  std::string help;               ///< a phrase without a full stop
};

/// Reads the hyper-parameters of a layer. Each key is read together with a line of help, from which the guide
/// is made (layer_guide()). Throws Error as SettingsReader does.
class LayerReader : public SettingsReader {
 public:
  /// `settings` must outlive the reader. `layer`: the layer's name, for messages.
  LayerReader(const Settings& settings, std::string_view layer);
  /// Makes a reader without settings, which records what a layer reads: every key is absent, every required
  /// key has the least value of its type (1, "", an empty list), and no range is checked.
  static LayerReader describing();

  const std::vector<LayerKey>& keys() const { return keys_; }

  bool get(std::string_view key, bool fallback, std::string_view help);
  std::int64_t get(std::string_view key, std::int64_t fallback, std::string_view help);
  double get(std::string_view key, double fallback, std::string_view help);
  /// Returns "" or an empty list if the key is absent.
  std::string text(std::string_view key, std::string_view help);
  std::vector<std::string> texts(std::string_view key, std::string_view help);
  double require_number(std::string_view key, std::string_view help);
  /// A single number counts as a list of one.
  std::vector<double> require_numbers(std::string_view key, std::string_view kind, std::string_view help);
  std::vector<std::int64_t> require_integers(std::string_view key, std::string_view kind,
                                             std::string_view help);
  /// Reads an integer >= 1.
  std::int64_t count(std::string_view key, std::int64_t fallback, std::string_view help);
  std::int64_t require_count(std::string_view key, std::string_view help);
  /// Reads one of `names`.
  std::string choice(std::string_view key, std::string_view fallback,
                     const std::vector<std::string_view>& names, std::string_view help);

  /// Reads a number or [height, width], >= 1.
  Extent extent(std::string_view key, Extent fallback, std::string_view help);
  Extent require_extent(std::string_view key, std::string_view help);
  /// Returns no value if the key is absent.
  std::optional<Extent> optional_extent(std::string_view key, std::string_view help);
  /// Reads a number or [height, width], >= 0. Returns no value if the key is absent or "auto".
  std::optional<Extent> extent_or_auto(std::string_view key, std::string_view help);
  /// Reads "valid", "same", a number, [height, width] or [top, bottom, left, right].
  Padding padding(std::string_view key, Padding fallback, std::string_view help);
  /// Reads the padding along a sequence: "valid", "same", "causal" if `causal`, a number or [before, after].
  Padding padding1d(std::string_view key, Padding fallback, bool causal, std::string_view help);
  /// Reads a number, [height, width] or [top, bottom, left, right], >= 0. The key is required if there is no
  /// `fallback`.
  Border border(std::string_view key, std::optional<std::int64_t> fallback, std::string_view help);

  Initializer initializer(std::string_view key, const Initializer& fallback, std::string_view help);
  /// Reads `initializer` and `bias_initializer`.
  Initializers initializers();

  /// Checks a value as SettingsReader::check does.
  void check(std::string_view key, bool holds, std::string_view expected) const;
  /// Checks keys that depend on each other: throws Error `message` unless `holds`.
  void require(bool holds, const std::string& message, const std::string& hint) const;

 private:
  LayerReader(const Settings& settings, std::string_view layer, bool describing);
  /// Records a key. Returns true if the key is present, and false in a description. Throws Error if it is
  /// required and absent.
  bool given(std::string_view key, std::string_view kind, std::optional<Value> fallback,
             std::string_view help);
  bool given_required(std::string_view key, std::string_view kind, std::string_view help);
  Extent read_extent(std::string_view key, std::int64_t least);

  bool describing_;
  std::vector<LayerKey> keys_;
};

/// Inverses of extent(), padding(), padding1d() and border().
Value write_extent(Extent extent);
Value write_padding(const Padding& padding);
Value write_padding1d(const Padding& padding);
Value write_border(const Border& border);

}  // namespace convoke::nn
