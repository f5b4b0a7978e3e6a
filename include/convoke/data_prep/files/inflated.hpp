#pragma once
#include "convoke/data_prep/files/byte_reader.hpp"

namespace convoke::data_prep {

/// True if its first two bytes are those of a gzip file.
bool begins_as_gzip(ByteReader& file);

/// A gzipped file (RFC 1952; also several one after the other), unpacked. Throws Error as open_plain, and if
/// it does not begin as gzip files do.
std::unique_ptr<ByteReader> open_gzip(const std::filesystem::path& file);

/// Where a member of an archive lies, and what it must be once unpacked.
struct PackedPart {
  std::uint64_t offset = 0;        ///< of its first byte in the file
  std::uint64_t packed_bytes = 0;  ///< that it takes there
  std::uint64_t bytes = 0;         ///< that it has unpacked
  std::uint32_t crc = 0;           ///< CRC-32 of these
};

/// A part of `file` that is packed by deflate (RFC 1951). Its size and checksum are compared at its end.
/// `name` is for messages.
std::unique_ptr<ByteReader> open_deflated(std::unique_ptr<ByteReader> file, std::string name,
                                          const PackedPart& part);

}  // namespace convoke::data_prep
