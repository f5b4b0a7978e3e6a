#pragma once
#include <hdf5.h>

#include <concepts>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "convoke/hdf5/file.hpp"

namespace convoke::hdf5 {

static_assert(std::same_as<hid_t, Handle::Id>);

/// While this object exists, this thread is the only one of the process that uses HDF5, which may be built
/// without thread safety. HDF5 prints no messages, because errors are thrown instead. Locks may be nested.
class LibraryLock {
 public:
  LibraryLock();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Returns the first description in HDF5's error stack, which is nearest to the cause: "file doesn't exist".
std::string innermost_reason();

/// Throws Error "<where>: <what> (<innermost reason>)".
[[noreturn]] void fail(const std::string& where, const std::string& what);

/// Returns `result`. Throws if it is negative, which is HDF5's failure code.
template <class T>
T check(T result, const std::string& where, const char* what) {
  if (result < 0) fail(where, what);
  return result;
}

/// Returns the size of a type. Throws if it is 0, which is HDF5's failure code.
inline std::size_t check_size(std::size_t bytes, const std::string& where, const char* what) {
  if (bytes == 0) fail(where, what);
  return bytes;
}

/// Takes ownership of an identifier that HDF5 returned.
inline Handle own(hid_t id, Handle::Close close, const std::string& where, const char* what) {
  return {check(id, where, what), close};
}

/// Returns properties of new objects: no time stamps, so that equal contents give equal bytes. Files and
/// groups keep the order in which their members are created.
Handle creation_properties(hid_t kind, const std::string& where);

/// Returns the bytes of an element in memory. Not for kOther.
std::size_t size_of(ElementType type);
/// Returns HDF5's type of the elements in memory. Not for kOther.
hid_t memory_type(ElementType type);
/// Returns HDF5's type in files: little endian on every machine. Not for kOther.
hid_t file_type(ElementType type);
/// Returns our type for a stored type of any byte order.
ElementType element_type_of(hid_t stored, const std::string& where);

/// Throws Error if a dataset's values are in other files.
void refuse_values_elsewhere(hid_t dataset, const std::string& where);

/// Returns texts of a stored type, of fixed or variable length. `read` gets the type in memory and the place
/// for the values of all `count` texts; `what` says what failed. Texts end at a zero byte.
std::vector<std::string> read_texts(hid_t type, std::size_t count, const std::string& where, const char* what,
                                    const std::function<void(hid_t memory, void* values)>& read);

}  // namespace convoke::hdf5
