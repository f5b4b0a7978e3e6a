#pragma once
#include "convoke/archive/byte_reader.hpp"

namespace convoke::archive {

/// True if the first two bytes are those of a gzip file.
bool begins_as_gzip(ByteReader& file);

/// Opens a gzipped file (RFC 1952; one or several streams), unpacked. Throws Error as open_plain, and if it
/// does not begin as a gzip file.
std::unique_ptr<ByteReader> open_gzip(const std::filesystem::path& file);

/// The position of a member in an archive, and its size and checksum.
struct PackedPart {
  std::uint64_t offset = 0;        ///< of its first byte in the file
  std::uint64_t packed_bytes = 0;  ///< in the file
  std::uint64_t bytes = 0;         ///< unpacked
  std::uint32_t crc = 0;           ///< CRC-32 of the unpacked bytes
};

/// Opens a part of `file` that is packed by deflate (RFC 1951). Checks its size and checksum at its end.
/// `name` is for messages.
std::unique_ptr<ByteReader> open_deflated(std::unique_ptr<ByteReader> file, std::string name,
                                          const PackedPart& part);

}  // namespace convoke::archive
