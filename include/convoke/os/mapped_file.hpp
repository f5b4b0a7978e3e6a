#pragma once
#include <cstddef>
#include <span>

#include "convoke/os/file.hpp"

namespace convoke::os {

/// The first bytes of a file as memory, which all processes that map the file share. The file may be closed
/// and removed.
class MappedFile {
 public:
  /// `file` must be open to read and write, and its disk must have space for so many bytes: otherwise a full
  /// disk would kill the process later. Throws Error.
  MappedFile(const File& file, std::size_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace convoke::os
