#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace convoke::interop {

/// A layer that is one operation in other programs too, of the same inputs, with one number at most. A format
/// reads and writes it by this entry alone; the tables of the formats hold the layers that need a function.
/// The first entry of a `name` is how it is written; the others are only read.
struct PlainLayer {
  struct Number {
    std::string_view name;         ///< our key; empty: the layer has none
    std::string_view onnx, keras;  ///< its attribute there
    std::optional<double> onnx_default = {}, keras_default = {};
  };

  std::string_view name;           ///< our layer
  std::string_view onnx = {};      ///< an operator; empty: it has a function, or does nothing in prediction
  std::string_view keras = {};     ///< a class; empty: an Activation, or it has a function
  std::string_view function = {};  ///< what Keras calls it as an activation
  std::string_view keras2 = {};    ///< the number, or the activation, if Keras 2 calls it otherwise
  Number number = {};
  bool training = false;  ///< does nothing in prediction
};

std::span<const PlainLayer> plain_layers();

/// Returns the first entry with this `name` in a column (&PlainLayer::onnx), or null.
inline const PlainLayer* find_plain_layer(std::string_view PlainLayer::*column, std::string_view name) {
  const auto all = plain_layers();
  const auto found = std::ranges::find(all, name, column);
  return found == all.end() || name.empty() ? nullptr : &*found;
}

}  // namespace convoke::interop
