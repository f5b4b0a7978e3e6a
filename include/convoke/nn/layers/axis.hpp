#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

/// An axis of a value by name: "channels", "height", "width" of images; "time", "features" of sequences;
/// "features" of vectors. "channels" also stands for "features" (the last axis of Keras).
class Axis {
 public:
  Axis(std::string name = "channels") : name_(std::move(name)) {}  // NOLINT: `.axis = {"time"}`
  const std::string& name() const { return name_; }

  /// Returns its position in `shape`. Throws Error if a value of this shape does not have the axis.
  std::size_t in(const Shape& shape) const;

 private:
  std::string name_;
};

std::vector<std::string> axis_names();
void read_value(SettingsReader& read, const KeyFacts& key, Axis& value);
Value to_value(const KeyFacts& key, const Axis& value);
constexpr std::string_view type_name(const Axis*) { return "text"; }

/// The key of a layer that works along an axis.
template <class O>
constexpr Key<O> kAxis =
    key<&O::axis>({.name = "axis",
                   .names = axis_names,
                   .help = "the axis; \"time\" for sequences, \"features\" for sequences and vectors"});

}  // namespace convoke::nn
