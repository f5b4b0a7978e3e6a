#pragma once
#include <hdf5.h>

#include <concepts>
#include <cstddef>
#include <mutex>
#include <string>

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

}  // namespace convoke::hdf5
