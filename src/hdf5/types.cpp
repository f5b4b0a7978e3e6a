#include "types.hpp"

#include <cassert>

namespace convoke::hdf5 {

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kFloat64:
      return "float64";
    case ElementType::kOther:
      break;
  }
  return "another type";
}

hid_t memory_type(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return H5T_NATIVE_UINT8;
    case ElementType::kInt32:
      return H5T_NATIVE_INT32;
    case ElementType::kInt64:
      return H5T_NATIVE_INT64;
    case ElementType::kFloat32:
      return H5T_NATIVE_FLOAT;
    case ElementType::kFloat64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::kOther:
      break;
  }
  assert(false);
  return H5I_INVALID_HID;
}

hid_t file_type(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return H5T_STD_U8LE;
    case ElementType::kInt32:
      return H5T_STD_I32LE;
    case ElementType::kInt64:
      return H5T_STD_I64LE;
    case ElementType::kFloat32:
      return H5T_IEEE_F32LE;
    case ElementType::kFloat64:
      return H5T_IEEE_F64LE;
    case ElementType::kOther:
      break;
  }
  assert(false);
  return H5I_INVALID_HID;
}

ElementType element_type_of(hid_t stored, const std::string& where) {
  constexpr const char* kCannot = "cannot read its type";
  const std::size_t bytes = check_size(H5Tget_size(stored), where, kCannot);
  switch (check(H5Tget_class(stored), where, kCannot)) {
    case H5T_INTEGER:
      if (check(H5Tget_sign(stored), where, kCannot) == H5T_SGN_NONE)
        return bytes == 1 ? ElementType::kUint8 : ElementType::kOther;
      return bytes == 4 ? ElementType::kInt32 : bytes == 8 ? ElementType::kInt64 : ElementType::kOther;
    case H5T_FLOAT:
      return bytes == 4 ? ElementType::kFloat32 : bytes == 8 ? ElementType::kFloat64 : ElementType::kOther;
    default:
      return ElementType::kOther;
  }
}

}  // namespace convoke::hdf5
