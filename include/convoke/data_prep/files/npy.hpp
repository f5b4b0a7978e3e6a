#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data_prep/files/byte_reader.hpp"

namespace convoke::data_prep {

/// Values of a NumPy array, of the type that they have there.
using NpyValues = std::variant<std::vector<std::uint8_t>, std::vector<std::int32_t>,
                               std::vector<std::int64_t>, std::vector<float>, std::vector<double>>;

/// An array from a NumPy .npy file, row-major.
struct NpyArray {
  Shape shape;
  NpyValues values;
};

/// An array in .npy format (a file, or a member of an .npz archive) that is read in parts: format version 1,
/// 2 or 3 of uint8, int32, int64, float32 or float64 in C order, little endian.
class NpyReader {
 public:
  /// Reads the header. Throws Error naming the file: no .npy file, truncated, Fortran order, another type,
  /// Python objects.
  explicit NpyReader(std::unique_ptr<ByteReader> bytes);

  const std::string& name() const { return bytes_->name(); }
  const Shape& shape() const { return shape_; }

  /// `count` values of its type, to be read into.
  NpyValues values(std::size_t count) const;
  /// The row-major values first, first + 1, ...: as many as `values`, which came from values(), holds. With
  /// the last one, the checksum of what was unpacked is compared. Throws Error if they are damaged.
  void read(std::uint64_t first, NpyValues& values);

 private:
  std::unique_ptr<ByteReader> bytes_;
  Shape shape_;
  NpyValues none_;  // its alternative is the type
  std::uint64_t begin_ = 0;
  std::uint64_t count_ = 0;
};

/// A whole .npy file. Throws Error as NpyReader does, or if it is missing.
NpyArray read_npy(const std::filesystem::path& file);

/// All that `array` holds. Throws Error as its read() does.
NpyArray read_all(NpyReader& array);

/// Writes format version 1. `values` has shape.elements() values. Throws Error if the file cannot be written.
void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const float> values);
void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const std::int32_t> values);

}  // namespace convoke::data_prep
