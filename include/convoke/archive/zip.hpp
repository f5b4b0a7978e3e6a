#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/archive/byte_reader.hpp"

namespace convoke::archive {

/// A zip archive (PKWARE APPNOTE 6.3, also zip64) whose members are stored or deflated: .npz and .keras
/// files. zlib unpacks; this class finds the position of a member, so that a stored one can be read at any
/// offset without the members before it. Names are only compared, never opened as files.
class ZipFile {
 public:
  struct Member {
    std::string name;
    std::uint64_t header = 0;  ///< offset of its local header in the file
    PackedPart part;           ///< its offset is unknown before it is opened
    unsigned flags = 0;
    unsigned method = 0;  ///< 0: stored, 8: deflated
  };

  /// Reads the directory. Throws Error if the file is not a zip archive, or is truncated or damaged: members
  /// that overlap or lie outside the file, or two of one name.
  explicit ZipFile(const std::filesystem::path& file);

  const std::vector<Member>& members() const { return members_; }
  bool contains(std::string_view name) const;

  /// Opens the bytes of a member, of which only a buffer is held in memory. Checks the checksum of a stored
  /// member now, by reading it once, and of a deflated one at its end. Throws Error naming the file and the
  /// member if there is none of that name, or it is encrypted, packed in another way, or damaged.
  std::unique_ptr<ByteReader> open(std::string_view name) const;

  /// Returns the bytes of a member. Throws Error as open(), and if it has more than `most` bytes, or
  /// announces so many that only a hostile file would (a zip bomb).
  std::string text(std::string_view name, std::uint64_t most = ~std::uint64_t{0}) const;

 private:
  const Member* find(std::string_view name) const;  // null: none

  std::filesystem::path file_;
  std::vector<Member> members_;
};

/// An entry of an archive: a text, or the contents of a file.
struct ZipEntry {
  std::string name;
  std::string text = {};
  std::filesystem::path file = {};  ///< if given, instead of `text`
};

/// Writes a zip archive with its entries stored without compression, as Keras writes models (weights do not
/// compress). Equal entries give equal bytes: all times are 1980. Throws Error naming `archive` if it would
/// exceed 4 GiB. Format: PKWARE, APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16.
void write_zip(const std::filesystem::path& archive, std::span<const ZipEntry> entries);

}  // namespace convoke::archive
