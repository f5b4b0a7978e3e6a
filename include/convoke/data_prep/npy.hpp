#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <variant>
#include <vector>

#include "convoke/core/shape.hpp"

namespace convoke::data_prep {

/// An array from a NumPy .npy file, row-major.
struct NpyArray {
  Shape shape;
  std::variant<std::vector<std::uint8_t>, std::vector<std::int32_t>, std::vector<std::int64_t>,
               std::vector<float>, std::vector<double>>
      values;
};

/// Reads format version 1, 2 or 3 of uint8, int32, int64, float32 or float64 in C order, little endian.
/// Throws Error naming the file: missing, no .npy file, truncated, Fortran order, another type.
NpyArray read_npy(const std::filesystem::path& file);

/// Writes format version 1. `values` has shape.elements() values. Throws Error if the file cannot be written.
void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const float> values);
void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const std::int32_t> values);

}  // namespace convoke::data_prep
