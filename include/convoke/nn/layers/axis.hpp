#pragma once
#include <cstddef>
#include <string>

#include "convoke/core/shape.hpp"

namespace convoke::nn {

class LayerReader;

/// An axis of a value by name: "channels", "height", "width" of images; "time", "features" of sequences;
/// "features" of vectors. "channels" also stands for "features" (the last axis of Keras).
class Axis {
 public:
  Axis(std::string name = "channels") : name_(std::move(name)) {}  // NOLINT: `.axis = {"time"}`
  const std::string& name() const { return name_; }

  /// Returns its position in `shape`. Throws Error if a value of this shape does not have the axis.
  std::size_t in(const Shape& shape) const;

  /// Reads the key "axis".
  static Axis read(LayerReader& read);

 private:
  std::string name_;
};

}  // namespace convoke::nn
