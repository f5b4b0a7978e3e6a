#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "convoke/data/samples.hpp"
#include "stored_dataset.hpp"

// Checks of the values of a split, for readers and writers.

namespace convoke::data {

/// The first invalid sample and its fault: "has label 3, outside 0..2".
struct Fault {
  std::size_t sample;
  std::string what;
};

/// Throws the fault, if there is one, of row first + fault.sample of an array. The message uses the number of
/// the row in its file.
void refuse(const std::optional<Fault>& fault, const StoredArray& array, std::int64_t first);

/// Finds a label outside 0..classes-1.
std::optional<Fault> label_fault(std::span<const std::int32_t> labels, std::int64_t classes);

/// Finds a weight that is negative, infinite or not a number.
std::optional<Fault> weight_fault(std::span<const float> weights);

/// Finds a negative size. sizes: (n, 2).
std::optional<Fault> size_fault(std::span<const std::int32_t> sizes);

/// Finds a negative group.
std::optional<Fault> group_fault(std::span<const std::int32_t> groups);

/// Finds a number that is not finite, or a token that is negative or not below `vocabulary` (0: not known).
/// Samples have the shape `stored`: (H, W, C), (L), ...
std::optional<Fault> sample_fault(const Samples& samples, const Shape& stored, std::int64_t vocabulary);

}  // namespace convoke::data
