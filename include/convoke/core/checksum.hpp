#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Checksums, and the records of TensorFlow, which have them.
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

/// Returns the checksum in TensorFlow's records: CRC-32C, masked, so that a record that contains records can
/// also have a checksum.
std::uint32_t tfrecord_checksum(std::span<const std::byte> bytes);

/// Returns `data` as one of TensorFlow's records: uint64 length, uint32 checksum of the length, the data,
/// uint32 checksum of the data; all little endian.
/// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
std::string tfrecord(std::string_view data);

}  // namespace convoke
