#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/archive/inflated.hpp"

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

}  // namespace convoke::archive
