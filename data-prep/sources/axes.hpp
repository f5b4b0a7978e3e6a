#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"

namespace convoke::data_prep {

/// A letter for each axis of an array of samples: N samples, H height, W width, C channels, L
/// length, F features.
class Axes {
 public:
  Axes() = default;
  /// "NHWC", "NCHW", "NHW", "NLF", "NF", "HWCN", ... Throws Error if the letters fit no kind of samples.
  explicit Axes(std::string letters);

  const std::string& letters() const { return letters_; }
  bool are_pictures() const { return letters_.find('H') != std::string::npos; }

  /// Returns `shape`, whose first axis is that of the samples and whose others have the order of the letters,
  /// as (N, H, W, C), (N, H, W), (N, L, F), (N, L) or (N, F). Throws Error if it has another number of axes.
  Shape in_order(const Shape& shape) const;

  /// Reorders the values of one sample of such an array in the same way.
  template <class T>
  void put_in_order(std::vector<T>& sample, const Shape& shape) const {
    if (is_ordered_) return;
    const std::vector<std::size_t> from = sources(shape);
    const std::vector<T> before = sample;
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = before[from[i]];
  }

 private:
  std::vector<std::size_t> sources(const Shape& shape) const;

  std::string letters_ = "NF";
  std::vector<std::size_t> place_ = {
      0};  // of the axes of an ordered sample among those of the letters without N
  bool is_ordered_ = true;
};

}  // namespace convoke::data_prep
