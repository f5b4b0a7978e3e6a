#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoke/hdf5/file.hpp"

namespace convoke::hdf5 {

/// An array that another program wrote: numbers of any width, texts, or references to other arrays.
class ForeignArray : public Dataset {
 public:
  explicit ForeignArray(Dataset array) : Dataset(std::move(array)) {}

  /// Returns the smallest type that holds every value of the stored type, which may be another number
  /// (int8, uint16, float16, ...), a boolean or an enumeration. kOther: none does.
  /// For uint64 it is int64: HDF5 replaces larger values by the largest. Throws Error if the array is
  /// compressed by a filter that HDF5 lacks.
  ElementType readable_type() const;

  /// Returns the extents of a chunk, which is read as a whole; none if the array is not chunked.
  std::optional<Shape> chunk() const;

  /// Reads the slices first, first + 1, ... along an axis: as many as the span holds. The values keep the
  /// order of the axes. Numbers are converted to T.
  template <Element T>
  void read_slices(std::size_t axis, std::int64_t first, std::span<T> values) const {
    read_slices(axis, first, element_type<T>(), std::as_writable_bytes(values));
  }

  /// True for texts of fixed or variable length.
  bool holds_texts() const;
  /// Reads all texts, in row-major order. Throws Error if it holds other values.
  std::vector<std::string> texts() const;

  /// Opens the arrays to which object references point, in row-major order. Throws Error if it holds other
  /// values, or a reference to nothing.
  std::vector<ForeignArray> referenced() const;

 private:
  ForeignArray(Handle handle, const ForeignArray& from);
  void read_slices(std::size_t axis, std::int64_t first, ElementType type, std::span<std::byte> bytes) const;
};

}  // namespace convoke::hdf5
