#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "convoke/core/keys.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/initializer.hpp"
#include "convoke/nn/window.hpp"

// Layers describe their keys as recipes do (core/keys.hpp). The types of value that only layers have:
//   Extent                 a number or [height, width], each in the key's range
//   std::optional<Extent>  also "auto": none
//   Padding                "valid", "same", a number, [height, width] or [top, bottom, left, right], >= 0
//   Border                 the same without words
//   Initializer            a name, or a table with options
namespace convoke::nn {

inline constexpr Range kAtLeastOne{.least = 1}, kNotNegative{.least = 0}, kPositive{.above = 0},
    kProbability{.least = 0, .below = 1};

void read_value(SettingsReader& read, const KeyFacts& key, Extent& value);
void read_value(SettingsReader& read, const KeyFacts& key, std::optional<Extent>& value);
void read_value(SettingsReader& read, const KeyFacts& key, Padding& value);
void read_value(SettingsReader& read, const KeyFacts& key, Border& value);
void read_value(SettingsReader& read, const KeyFacts& key, Initializer& value);

Value to_value(const KeyFacts& key, Extent value);
Value to_value(const KeyFacts& key, const std::optional<Extent>& value);
Value to_value(const KeyFacts& key, const Padding& value);
Value to_value(const KeyFacts& key, const Border& value);
Value to_value(const KeyFacts& key, const Initializer& value);

constexpr std::string_view type_name(const Extent*) { return "number or [height, width]"; }
constexpr std::string_view type_name(const std::optional<Extent>*) {
  return "\"auto\", number or [height, width]";
}
constexpr std::string_view type_name(const Padding*) {
  return "\"valid\", \"same\", number, [height, width] or [top, bottom, left, right]";
}
constexpr std::string_view type_name(const Border*) {
  return "number, [height, width] or [top, bottom, left, right]";
}
constexpr std::string_view type_name(const Initializer*) { return "name or table"; }

/// The padding along a sequence: "valid", "same", "causal" if `causal`, a number or [before, after], >= 0.
void read_sequence_padding(SettingsReader& read, const KeyFacts& key, bool causal, Padding& value);
Value write_sequence_padding(const Padding& padding);

/// Makes the key of a padding along a sequence.
template <auto kMember, bool kCausal>
constexpr auto sequence_padding(KeyFacts facts) {
  using Options = typename keys::Path<kMember>::Holder;
  facts.type = kCausal ? "\"valid\", \"same\", \"causal\", number or [before, after]"
                       : "\"valid\", \"same\", number or [before, after]";
  return Key<Options>{facts,
                      [](SettingsReader& read, const KeyFacts& key, Options& options) {
                        read_sequence_padding(read, key, kCausal, options.*kMember);
                      },
                      [](const KeyFacts&, const Options& options) -> std::optional<Value> {
                        return write_sequence_padding(options.*kMember);
                      }};
}

/// A layer whose hyper-parameters are the members of a struct. A class of it has `static Keys keys()`, from
/// which the layer table reads them, settings() writes them and the guide is made. Keys that depend on each
/// other are checked by its `static void check(const SettingsReader& read, const Options& options)`.
template <class O>
class KeyedLayer : public Layer {
 public:
  using Options = O;
  using Keys = std::span<const Key<O>>;

  const O& options() const { return options_; }
  Settings settings() const override {
    Settings settings = Layer::settings();
    write_keys(keys_, options_, settings);
    return settings;
  }

 protected:
  /// `keys` has static storage.
  KeyedLayer(Keys keys, O options) : options_(std::move(options)), keys_(keys) {}

  O options_;

 private:
  Keys keys_;
};

}  // namespace convoke::nn
