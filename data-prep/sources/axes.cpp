#include "sources/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::array<std::string_view, 5> kSampleKinds{"HWC", "HW", "LF", "L", "F"};  // of a sample, in order

}  // namespace

Axes::Axes(std::string letters) : letters_(std::move(letters)) {
  std::string sample = letters_;
  std::erase(sample, 'N');
  const auto kind = std::find_if(kSampleKinds.begin(), kSampleKinds.end(), [&](std::string_view known) {
    return std::is_permutation(known.begin(), known.end(), sample.begin(), sample.end());
  });
  if (kind == kSampleKinds.end() || sample.size() + 1 != letters_.size()) {
    throw Error(fmt::format("--axes {}: fits no kind of samples", letters_),
                "write a letter for each axis: N for the samples, and H, W, C or H, W for pictures, L, F for "
                "sequences, F for features, L for tokens; for example NHWC, NCHW, HWCN, NLF");
  }
  place_.clear();
  for (const char letter : *kind) place_.push_back(sample.find(letter));
  is_ordered_ = std::is_sorted(place_.begin(), place_.end());
}

Shape Axes::in_order(const Shape& shape) const {
  if (shape.rank() != letters_.size()) {
    throw Error(fmt::format("--axes {}: the array of shape {} has {} axes", letters_, shape.to_string(),
                            shape.rank()));
  }
  std::vector<std::int64_t> extents{shape[0]};
  for (const std::size_t place : place_) extents.push_back(shape[place + 1]);
  return Shape(std::move(extents));
}

// For each value of an ordered sample, its place in the sample as it is.
std::vector<std::size_t> Axes::sources(const Shape& shape) const {
  std::vector<std::size_t> stride(place_.size(), 1);
  for (std::size_t axis = stride.size() - 1; axis > 0; --axis)
    stride[axis - 1] = stride[axis] * static_cast<std::size_t>(shape[axis + 1]);
  std::vector<std::size_t> from{0};
  for (const std::size_t place : place_) {
    std::vector<std::size_t> next;
    for (const std::size_t base : from) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape[place + 1]); ++i)
        next.push_back(base + i * stride[place]);
    }
    from = std::move(next);
  }
  return from;
}

}  // namespace convoke::data_prep
