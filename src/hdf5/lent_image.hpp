#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "convoke/hdf5/handle.hpp"

namespace convoke::hdf5 {

/// Makes the files that are opened with `access` read `image`, the bytes of an HDF5 file, in place. They must
/// outlive the files. `where`: for messages.
void lend_image(const Handle& access, std::span<const std::byte> image, const std::string& where);

}  // namespace convoke::hdf5
