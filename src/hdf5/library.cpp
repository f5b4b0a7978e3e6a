#include "library.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstring>

#include "convoke/core/error.hpp"

namespace convoke::hdf5 {
namespace {

// Never destroyed, because files may be closed at exit.
std::recursive_mutex& hdf5_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

int Handle::reset() {
  if (id_ < 0) return 0;
  const LibraryLock lock;
  return close_(std::exchange(id_, -1));
}

LibraryLock::LibraryLock() : lock_(hdf5_mutex()) {
  // At exit HDF5 1.10 would try again to flush failed writes, and crash. Convoke closes every file that it
  // opens.
  static const herr_t no_cleanup = H5dont_atexit();
  static_cast<void>(no_cleanup);
  // A link into another file does not resolve: a file that was downloaded must not name files of this
  // machine.
  static const herr_t no_external_links = H5Lunregister(H5L_TYPE_EXTERNAL);
  static_cast<void>(no_external_links);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string innermost_reason() {
  std::string reason;
  const auto keep_first = [](unsigned n, const H5E_error2_t* error, void* out) -> herr_t {
    try {  // an exception must not pass through HDF5
      if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
      return 0;
    } catch (...) {
      return -1;
    }
  };
  // An upward walk begins at the innermost function.
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason.empty() ? "no reason given" : reason;
}

void fail(const std::string& where, const std::string& what) {
  throw Error(fmt::format("{}: {} (HDF5: {})", where, what, innermost_reason()));
}

Handle creation_properties(hid_t kind, const std::string& where) {
  constexpr const char* kCannot = "its properties cannot be set";
  constexpr unsigned kInOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  Handle plist = own(H5Pcreate(kind), H5Pclose, where, kCannot);
  check(H5Pset_obj_track_times(plist.get(), false), where, kCannot);
  if (kind != H5P_DATASET_CREATE) check(H5Pset_link_creation_order(plist.get(), kInOrder), where, kCannot);
  return plist;
}

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
