#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "convoke/data/samples.hpp"

// What may be wrong with the values of a split, whoever reads or writes them.

namespace convoke::data {

/// The first sample that is wrong, and how: "has label 3, outside 0..2".
struct Fault {
  std::size_t sample;
  std::string what;
};

/// A label outside 0..classes-1.
std::optional<Fault> label_fault(std::span<const std::int32_t> labels, std::int64_t classes);

/// A weight that is negative, infinite or not a number.
std::optional<Fault> weight_fault(std::span<const float> weights);

/// A size that is negative. sizes: (n, 2).
std::optional<Fault> size_fault(std::span<const std::int32_t> sizes);

/// A number that is not finite, a token that is negative or not below `vocabulary` (0: not known). Samples of
/// shape `stored`: (H, W, C), (L), ...
std::optional<Fault> sample_fault(const Samples& samples, const Shape& stored, std::int64_t vocabulary);

}  // namespace convoke::data
