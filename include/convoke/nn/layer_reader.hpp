#pragma once
#include <cstdint>
#include <initializer_list>
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
  std::optional<Value> fallback;  ///< its default; none: without the key the layer decides
  std::string help;               ///< a phrase without a full stop
};

/// Reads the hyper-parameters of a layer. Every key has a line of help where it is read, so that the guide
/// follows from the code (layer_guide()). Throws Error as SettingsReader does.
class LayerReader : public SettingsReader {
 public:
  /// `settings` must outlive the reader; `layer`: the name, for messages.
  LayerReader(const Settings& settings, std::string_view layer);
  /// A reader of no settings: every key is absent, every required one has a placeholder, and nothing is
  /// out of range. What a layer reads from it, it records.
  static LayerReader describing();

  const std::vector<LayerKey>& keys() const { return keys_; }

  bool get(std::string_view key, bool fallback, std::string_view help);
  std::int64_t get(std::string_view key, std::int64_t fallback, std::string_view help);
  double get(std::string_view key, double fallback, std::string_view help);
  /// "" or an empty list if the key is absent.
  std::string text(std::string_view key, std::string_view help);
  std::vector<std::string> texts(std::string_view key, std::string_view help);
  double require_number(std::string_view key, std::string_view help);
  /// One number counts as a list of one.
  std::vector<double> require_numbers(std::string_view key, std::string_view kind, std::string_view help);
  std::vector<std::int64_t> require_integers(std::string_view key, std::string_view kind,
                                             std::string_view help);
  /// An integer >= 1.
  std::int64_t count(std::string_view key, std::int64_t fallback, std::string_view help);
  std::int64_t require_count(std::string_view key, std::string_view help);
  /// One of `names`.
  std::string choice(std::string_view key, std::string_view fallback,
                     std::initializer_list<std::string_view> names, std::string_view help);

  /// A number or [height, width], >= 1.
  Extent extent(std::string_view key, Extent fallback, std::string_view help);
  Extent require_extent(std::string_view key, std::string_view help);
  /// None if the key is absent.
  std::optional<Extent> optional_extent(std::string_view key, std::string_view help);
  /// The same, >= 0; none if the key is absent or "auto".
  std::optional<Extent> extent_or_auto(std::string_view key, std::string_view help);
  /// "valid", "same", a number, [height, width] or [top, bottom, left, right].
  Padding padding(std::string_view key, Padding fallback, std::string_view help);
  /// Along a sequence: "valid", "same", "causal" if `causal`, a number or [before, after].
  Padding padding1d(std::string_view key, Padding fallback, bool causal, std::string_view help);
  /// A number, [height, width] or [top, bottom, left, right], >= 0. Required without a fallback.
  Border border(std::string_view key, std::optional<std::int64_t> fallback, std::string_view help);

  Initializer initializer(std::string_view key, const Initializer& fallback, std::string_view help);
  /// `initializer` and `bias_initializer`.
  Initializers initializers();

  /// As SettingsReader::check.
  void check(std::string_view key, bool holds, std::string_view expected) const;
  /// The same for keys that depend on each other: throws Error `message` unless `holds`.
  void require(bool holds, const std::string& message, const std::string& hint) const;

 private:
  LayerReader(const Settings& settings, std::string_view layer, bool describing);
  /// Records a key; true if it is there, false in a description. Throws Error if it is required and absent.
  bool given(std::string_view key, std::string_view kind, std::optional<Value> fallback,
             std::string_view help);
  bool given_required(std::string_view key, std::string_view kind, std::string_view help);
  Extent read_extent(std::string_view key, std::int64_t least);

  bool describing_;
  std::vector<LayerKey> keys_;
};

/// The inverse of extent(), padding(), padding1d() and border().
Value write_extent(Extent extent);
Value write_padding(const Padding& padding);
Value write_padding1d(const Padding& padding);
Value write_border(const Border& border);

}  // namespace convoke::nn
