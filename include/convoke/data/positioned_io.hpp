#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace convoke::data {

/// Opens `file` with flags of open(2), closed by programs that are started; the caller closes it. Throws
/// Error naming `file`.
int open_descriptor(const std::filesystem::path& file, int flags);

/// Reads exactly bytes.size() bytes at `offset`. Throws Error naming `file` where reading fails or the file
/// ends.
void read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes,
             const std::filesystem::path& file);

/// Writes all bytes at `offset`. Throws Error naming `file`, e.g. when the disk is full.
void write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes,
              const std::filesystem::path& file);

}  // namespace convoke::data
