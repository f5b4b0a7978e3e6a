#pragma once
#include "check.hpp"
#include "convoke/hdf5/file.hpp"

namespace convoke::hdf5 {

template <Element T>
constexpr ElementType element_type() {
  if constexpr (std::same_as<T, std::uint8_t>) return ElementType::kUint8;
  if constexpr (std::same_as<T, std::int32_t>) return ElementType::kInt32;
  if constexpr (std::same_as<T, std::int64_t>) return ElementType::kInt64;
  if constexpr (std::same_as<T, float>) return ElementType::kFloat32;
  if constexpr (std::same_as<T, double>) return ElementType::kFloat64;
}

/// Returns HDF5's type of the elements in memory. Not for kOther.
hid_t memory_type(ElementType type);
/// Returns HDF5's type in files: little endian on every machine. Not for kOther.
hid_t file_type(ElementType type);
/// Returns our type for a stored type of any byte order.
ElementType element_type_of(hid_t stored, const std::string& where);

}  // namespace convoke::hdf5
