#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/files/inflated.hpp"

namespace convoke::data_prep {

/// A zip archive (also zip64) whose members are stored or deflated, as .npz files are. The unpacking is
/// zlib's; what is done here is to find where a member lies, so that a stored one is read at any place
/// without what is before it.
class ZipFile {
 public:
  struct Member {
    std::string name;
    std::uint64_t header = 0;  ///< offset of its local header in the file
    PackedPart part;           ///< its offset is not known before it is opened
    unsigned flags = 0;
    unsigned method = 0;  ///< 0: stored, 8: deflated
  };

  /// Reads the directory. Throws Error: no zip archive, its end cut off, its directory damaged.
  explicit ZipFile(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  const std::vector<Member>& members() const { return members_; }

  /// The bytes of a member. The checksum of a stored one is compared now, by reading it once; of a deflated
  /// one at its end. Throws Error: encrypted, packed in another way, damaged.
  std::unique_ptr<ByteReader> open(const Member& member) const;

 private:
  std::filesystem::path file_;
  std::vector<Member> members_;
};

}  // namespace convoke::data_prep
