#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/files/inflated.hpp"

namespace convoke::data_prep {

/// A zip archive (also zip64) whose members are stored or deflated, as .npz files are. zlib unpacks; this
/// class finds the position of a member, so that a stored one can be read at any offset without the members
/// before it.
class ZipFile {
 public:
  struct Member {
    std::string name;
    std::uint64_t header = 0;  ///< offset of its local header in the file
    PackedPart part;           ///< its offset is unknown before it is opened
    unsigned flags = 0;
    unsigned method = 0;  ///< 0: stored, 8: deflated
  };

  /// Reads the directory. Throws Error if the file is not a zip archive, or its end or directory is damaged.
  explicit ZipFile(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  const std::vector<Member>& members() const { return members_; }

  /// Opens the bytes of a member. Checks the checksum of a stored member now, by reading it once, and of a
  /// deflated one at its end. Throws Error if the member is encrypted, packed in another way, or damaged.
  std::unique_ptr<ByteReader> open(const Member& member) const;

 private:
  std::filesystem::path file_;
  std::vector<Member> members_;
};

}  // namespace convoke::data_prep
