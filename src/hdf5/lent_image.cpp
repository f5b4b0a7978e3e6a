#include "lent_image.hpp"

#include <hdf5.h>

#include <cstring>

#include "types.hpp"

// By default HDF5 copies an image into the property list and again into each file that is opened. These
// functions give it the same memory each time. `udata` is the address of the image.

namespace convoke::hdf5 {
namespace {

void* lend(std::size_t, H5FD_file_image_op_t, void* udata) { return udata; }

void* copy(void* to, const void* from, std::size_t bytes, H5FD_file_image_op_t, void*) {
  return to == from ? to : std::memcpy(to, from, bytes);
}

// HDF5 reallocates only files that grow.
void* refuse_growth(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }

herr_t keep(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_udata(void* udata) { return udata; }
herr_t keep_udata(void*) { return 0; }

}  // namespace

void lend_image(const Handle& access, std::span<const std::byte> image, const std::string& where) {
  constexpr const char* kCannot = "cannot be read from memory";
  constexpr std::size_t kGrowth = 1U << 16;  // of a file that is written
  // HDF5's types have no const, but it does not change the bytes of a file that is read.
  auto* const bytes = const_cast<std::byte*>(image.data());
  H5FD_file_image_callbacks_t callbacks{lend, copy, refuse_growth, keep, same_udata, keep_udata, bytes};
  check(H5Pset_fapl_core(access.get(), kGrowth, false), where, kCannot);
  check(H5Pset_file_image_callbacks(access.get(), &callbacks), where, kCannot);
  check(H5Pset_file_image(access.get(), bytes, image.size()), where, kCannot);
}

}  // namespace convoke::hdf5
