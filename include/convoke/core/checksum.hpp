#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace convoke {

/// CRC-32 of bytes, the one of zlib, PNG and gzip (polynomial 0x04C11DB7 reflected): `crc32("123456789")` is
/// 0xCBF43926. Incremental: crc32(b, crc32(a)) is that of a followed by b.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// CRC-32 of a followed by b, from that of each and the size of b in bytes: parts can be summed apart.
std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes);

/// CRC-32C of bytes, the one of iSCSI and TFRecords (polynomial 0x1EDC6F41 reflected, Castagnoli 1993):
/// `crc32c("123456789")` is 0xE3069283. Incremental as crc32.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace convoke
