#pragma once
#include <string>

#include "convoke/os/file.hpp"

namespace convoke::os {

/// Creates a file without a name on a disk, which disappears when it is closed: in memory, or, where a
/// sandbox or an old kernel refuses that, in /dev/shm or the folder for temporary files. `name` is for
/// messages. Throws Error with the first reason if none of them works.
File scratch_file(const std::string& name);

}  // namespace convoke::os
