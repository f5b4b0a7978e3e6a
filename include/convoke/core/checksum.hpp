#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace convoke {

/// Returns the CRC-32 of bytes as in zlib, PNG and gzip (polynomial 0x04C11DB7 reflected):
/// `crc32("123456789")` is 0xCBF43926. Incremental: crc32(b, crc32(a)) is the CRC-32 of a followed by b.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Returns the CRC-32 of a followed by b from both CRCs and the size of b in bytes, so that parts can be
/// summed separately.
std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes);

/// Returns the CRC-32C of bytes as in iSCSI and TFRecords (polynomial 0x1EDC6F41 reflected, Castagnoli 1993):
/// `crc32c("123456789")` is 0xE3069283. Incremental as crc32.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace convoke
