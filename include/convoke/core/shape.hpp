#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace convoke {

/// The extents of one sample without the batch, (C, H, W) for images, (F) for features; or of one parameter.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  std::size_t rank() const { return extents_.size(); }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  /// Returns the product of the extents; 1 for an empty shape.
  std::int64_t elements() const;

  /// Returns "(32, 26, 26)".
  std::string to_string() const;
  /// Returns the shape of a node's output, with the batch in front: "(N, 32, 26, 26)".
  std::string with_batch() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> extents_;
};

}  // namespace convoke
