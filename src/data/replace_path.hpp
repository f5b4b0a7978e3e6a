#pragma once
#include <filesystem>

namespace convoke::data {

/// Throws Error if what is at `path` must not be replaced by a dataset: a folder of anything but shards,
/// a device.
void require_replaceable(const std::filesystem::path& path);

/// Gives a complete file or folder its name; what has it (see above) is removed. At any moment the name means
/// the old or the new one, where the file system can exchange two. Throws Error, and removes `temporary`, if
/// it cannot be renamed.
void replace_path(const std::filesystem::path& temporary, const std::filesystem::path& path);

}  // namespace convoke::data
