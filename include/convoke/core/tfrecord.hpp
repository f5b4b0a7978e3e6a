#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convoke {

/// Returns the checksum in TensorFlow's records: CRC-32C, masked, so that a record that contains records can
/// also have a checksum.
std::uint32_t tfrecord_checksum(std::span<const std::byte> bytes);

/// Returns `data` as one of TensorFlow's records: uint64 length, uint32 checksum of the length, the data,
/// uint32 checksum of the data; all little endian.
/// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
std::string tfrecord(std::string_view data);

}  // namespace convoke
