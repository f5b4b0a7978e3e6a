#pragma once
#include <filesystem>
#include <string>

namespace convoke::os {

/// Returns what a path is if it is neither a regular file nor a folder (links are followed): "a named pipe
/// (FIFO)", "a socket" or "a device". Empty for files, folders and paths that do not exist. File refuses to
/// read pipes, sockets and devices, without waiting for a writer.
std::string special_kind(const std::filesystem::path& path);

}  // namespace convoke::os
