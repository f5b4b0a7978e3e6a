#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/core/shape.hpp"

namespace convoke::data_prep {

/// Values of an array, in their stored type.
using NpyValues = std::variant<std::vector<std::uint8_t>, std::vector<std::int32_t>,
                               std::vector<std::int64_t>, std::vector<float>, std::vector<double>>;

/// An array of a file that is read in parts. Its first axis numbers the samples.
class SampleArray {
 public:
  virtual ~SampleArray() = default;

  /// The file, and the array in it, for messages.
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  /// Returns `count` values of the array's type, to be read into.
  NpyValues values(std::size_t count) const;
  /// Reads the row-major values first, first + 1, ...: as many as `values`, which came from values(), holds.
  /// Reading sample by sample is fast. Throws Error if the values are damaged.
  virtual void read(std::uint64_t first, NpyValues& values) = 0;

 protected:
  explicit SampleArray(std::string name) : name_(std::move(name)) {}

  std::string name_;
  Shape shape_;
  NpyValues none_;  // holds the type
};

/// An array from a NumPy .npy file, row-major.
struct NpyArray {
  Shape shape;
  NpyValues values;
};

/// An array in .npy format (a file, or a member of an .npz archive) that is read in parts: format version 1,
/// 2 or 3 of uint8, int32, int64, float32 or float64 in C order, little endian.
class NpyReader final : public SampleArray {
 public:
  /// Reads the header. Throws Error naming the file if it is not an .npy file, is truncated, is in Fortran
  /// order, has another type, or holds Python objects.
  explicit NpyReader(std::unique_ptr<archive::ByteReader> bytes);

  /// After the last value it checks the checksum of an unpacked file.
  void read(std::uint64_t first, NpyValues& values) override;

 private:
  std::unique_ptr<archive::ByteReader> bytes_;
  std::uint64_t begin_ = 0;
  std::uint64_t count_ = 0;
};

/// Reads a complete .npy file. Throws Error as NpyReader does, or if it is missing.
NpyArray read_npy(const std::filesystem::path& file);

/// Reads all values of `array`. Throws Error as its read() does.
NpyArray read_all(SampleArray& array);

/// Writes format version 1. `values` has shape.elements() values. Throws Error if the file cannot be written.
void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const float> values);
void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const std::int32_t> values);

}  // namespace convoke::data_prep
