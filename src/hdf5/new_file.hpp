#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/os/file.hpp"

namespace convoke::hdf5 {

/// A file that is being created: HDF5 writes its structure into memory, and arrays are on the disk at the
/// places that HDF5 gave them. Without finish() the file is removed. Errors name the file.
class NewFile {
 public:
  /// Creates `file`. An existing one is emptied or, if `empty` is false, kept, and finish() writes around its
  /// bytes.
  NewFile(const std::filesystem::path& file, bool empty);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Returns the path that HDF5 opens.
  std::string structure() const;
  /// Excludes bytes [begin, end) from the structure that finish() copies.
  void reserve(std::uint64_t begin, std::uint64_t end) { reserved_.push_back({begin, end}); }
  /// Writes at `offset`, within reserved bytes. On failure the file is removed.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Adds the structure, syncs and closes.
  void finish();

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  static constexpr std::size_t kPiece = 4U << 20;

  void discard();
  void copy(std::uint64_t begin, std::uint64_t end);

  os::File target_, memory_;
  std::size_t unsent_ = 0;  // bytes written since the last write_back()
  std::vector<Range> reserved_;
};

}  // namespace convoke::hdf5
