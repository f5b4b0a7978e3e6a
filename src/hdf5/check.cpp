#include "check.hpp"

#include <fmt/format.h>

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

}  // namespace convoke::hdf5
