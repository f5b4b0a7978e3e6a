#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/os/file.hpp"

namespace convoke::interop {

/// Reads the entries of a zip file (PKWARE APPNOTE 6.3): stored or deflated, below 4 GiB, without encryption.
/// Names are only compared, never opened. Every size and offset is checked, and no entry may expand more than
/// deflate can (a zip bomb is refused).
class ZipReader {
 public:
  /// Reads the directory. Throws Error naming the file if it is no zip file, truncated or damaged: entries
  /// that overlap, or two of one name.
  explicit ZipReader(const std::filesystem::path& file);

  bool contains(std::string_view name) const;
  /// True if the name of an entry has this ending.
  bool contains_ending(std::string_view ending) const;
  /// Returns the bytes of an entry. Throws Error naming the file and the entry if there is none, if it has
  /// more than `most` bytes, or if its data do not expand to the announced size and CRC-32.
  std::vector<std::byte> read(std::string_view name, std::uint64_t most = ~std::uint64_t{0}) const;
  std::string text(std::string_view name, std::uint64_t most) const;
  /// A range of the file's bytes.
  struct Range {
    std::uint64_t offset = 0, bytes = 0;
  };
  /// Returns where the bytes of an entry lie in file(); none if it is compressed. Throws Error as read().
  std::optional<Range> stored(std::string_view name) const;
  const os::File& file() const { return file_; }

 private:
  struct Entry {
    std::string name;
    unsigned method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, bytes = 0;  ///< size in the file, and of the contents
    std::uint64_t data = 0;               ///< offset of the packed bytes
  };

  void read_directory();
  void locate(Entry& entry, std::uint64_t header) const;
  void refuse_overlaps() const;
  /// Returns the entry. Throws Error if there is none, or if read() cannot expand it.
  const Entry& readable(std::string_view name) const;
  void check_crc(const Entry& entry, std::uint32_t crc) const;
  [[noreturn]] void damaged(const std::string& what) const;
  const Entry* find(std::string_view name) const;

  os::File file_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace convoke::interop
