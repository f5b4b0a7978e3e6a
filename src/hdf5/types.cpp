#include "types.hpp"

#include <array>
#include <cassert>
#include <cstring>

namespace convoke::hdf5 {

namespace {

// Returns the entry of a table in the order of ElementType.
template <class Table>
auto entry_of(const Table& table, ElementType type) {
  return table.at(static_cast<std::size_t>(type));
}

}  // namespace

std::string_view name_of(ElementType type) {
  constexpr std::array<std::string_view, 6> kNames{"uint8",   "int32",   "int64",
                                                   "float32", "float64", "another type"};
  return entry_of(kNames, type);
}

std::size_t size_of(ElementType type) {
  assert(type != ElementType::kOther);
  return entry_of(std::array<std::size_t, 5>{1, 4, 8, 4, 8}, type);
}

hid_t memory_type(ElementType type) {
  assert(type != ElementType::kOther);
  const std::array types{H5T_NATIVE_UINT8, H5T_NATIVE_INT32,  H5T_NATIVE_INT64,
                         H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, hid_t{H5I_INVALID_HID}};
  return entry_of(types, type);
}

hid_t file_type(ElementType type) {
  assert(type != ElementType::kOther);
  const std::array types{H5T_STD_U8LE,   H5T_STD_I32LE,  H5T_STD_I64LE,
                         H5T_IEEE_F32LE, H5T_IEEE_F64LE, hid_t{H5I_INVALID_HID}};
  return entry_of(types, type);
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

std::vector<std::string> read_texts(hid_t type, std::size_t count, const std::string& where, const char* what,
                                    const std::function<void(hid_t memory, void* values)>& read) {
  std::vector<std::string> values(count);
  if (check(H5Tis_variable_str(type), where, what) > 0) {
    std::vector<char*> texts(count, nullptr);  // each allocated by HDF5
    read(type, static_cast<void*>(texts.data()));
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i] != nullptr) values[i] = texts[i];
      H5free_memory(texts[i]);
    }
    return values;
  }
  const std::size_t bytes = check_size(H5Tget_size(type), where, what);
  std::string texts(count * bytes, '\0');
  read(type, texts.data());
  const bool padded_with_space = check(H5Tget_strpad(type), where, what) == H5T_STR_SPACEPAD;
  for (std::size_t i = 0; i < count; ++i) {
    const char* text = texts.data() + i * bytes;
    values[i].assign(text, strnlen(text, bytes));
    if (padded_with_space) values[i].erase(values[i].find_last_not_of(' ') + 1);
  }
  return values;
}

}  // namespace convoke::hdf5
