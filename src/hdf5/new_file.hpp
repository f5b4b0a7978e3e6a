#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/os/file.hpp"

namespace convoke::hdf5 {

/// A file in the making: HDF5 writes its structure into memory, and arrays lie on the disk, where HDF5 has
/// put them. Without finish() nothing remains of it. Errors name the file.
class NewFile {
 public:
  /// Makes `file`; what is there already is emptied or, without `empty`, kept for finish() to write around.
  NewFile(const std::filesystem::path& file, bool empty);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// What HDF5 opens.
  std::string structure() const;
  /// Bytes [begin, end) are not HDF5's to write.
  void reserve(std::uint64_t begin, std::uint64_t end) { reserved_.push_back({begin, end}); }
  /// Writes at `offset`, in what is reserved. If it fails, the file is gone.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Adds the structure, syncs and closes.
  void finish();

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  void discard();
  void copy(std::uint64_t begin, std::uint64_t end);

  os::File target_, memory_;
  std::vector<Range> reserved_;
};

}  // namespace convoke::hdf5
