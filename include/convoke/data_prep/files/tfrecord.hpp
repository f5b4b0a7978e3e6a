#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "convoke/data_prep/files/byte_reader.hpp"

namespace convoke::data_prep {

struct TfRecord {
  std::vector<std::byte> data = {};
  std::uint64_t offset = 0;  ///< of its data in the (unpacked) file
  bool whole = true;         ///< its data have their checksum
};

/// TensorFlow's records, one after the other: uint64 length, uint32 masked CRC-32C of the length, the data,
/// uint32 masked CRC-32C of the data; all little endian.
/// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
class TfRecordReader {
 public:
  explicit TfRecordReader(std::unique_ptr<ByteReader> bytes) : bytes_(std::move(bytes)) {}

  /// The next record; false at the end. Throws Error naming the file and the record: a length without its
  /// checksum, after which no record can be found; truncated.
  bool next(TfRecord& record);

 private:
  std::unique_ptr<ByteReader> bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t records_ = 0;
};

/// True if `bytes` begins with a length and its checksum.
bool begins_as_tfrecord(ByteReader& bytes);

}  // namespace convoke::data_prep
