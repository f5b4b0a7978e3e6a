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
  bool whole = true;         ///< its data match their checksum
};

/// Reads TensorFlow's records (core/tfrecord.hpp) in order.
class TfRecordReader {
 public:
  explicit TfRecordReader(std::unique_ptr<ByteReader> bytes) : bytes_(std::move(bytes)) {}

  /// Finds the next record; false at the end. Throws Error naming the file and the record if it is truncated,
  /// or if the checksum of its length is wrong, since no later record can be found then.
  bool next(TfRecord& record);

 private:
  std::unique_ptr<ByteReader> bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t records_ = 0;
};

/// True if `bytes` begins with a length and its checksum.
bool begins_as_tfrecord(ByteReader& bytes);

}  // namespace convoke::data_prep
