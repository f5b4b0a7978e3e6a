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

/// TensorFlow's records (core/tfrecord.hpp), one after the other.
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
