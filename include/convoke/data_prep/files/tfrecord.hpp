#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/archive/byte_reader.hpp"

namespace convoke::data_prep {

struct TfRecord {
  std::vector<std::byte> data = {};
  std::uint64_t offset = 0;  ///< of its data in the (unpacked) file
  bool whole = true;         ///< its data match their checksum
};

/// Reads TensorFlow's records in order.
class TfRecordReader {
 public:
  explicit TfRecordReader(std::unique_ptr<archive::ByteReader> bytes) : bytes_(std::move(bytes)) {}

  /// Finds the next record; false at the end. Throws Error naming the file and the record if it is truncated,
  /// or if the checksum of its length is wrong, since no later record can be found then.
  bool next(TfRecord& record);

 private:
  std::unique_ptr<archive::ByteReader> bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t records_ = 0;
};

/// True if `bytes` begins with a length and its checksum.
bool begins_as_tfrecord(archive::ByteReader& bytes);

/// A feature of a tf.train.Example: its name and its first value. Views of the message's bytes.
struct TfFeature {
  enum class Kind { kNone, kBytes, kFloats, kIntegers };

  std::string_view name = {};
  Kind kind = Kind::kNone;
  std::size_t count = 0;                  ///< number of values
  std::span<const std::byte> bytes = {};  ///< the first value of kBytes
  float number = 0;                       ///< the first value of kFloats
  std::int64_t integer = 0;               ///< the first value of kIntegers

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Returns the features of a serialized tf.train.Example, in order. Throws Error "is not a tf.train.Example",
/// beginning with `name`.
std::vector<TfFeature> parse_tf_example(std::span<const std::byte> message, const std::string& name);

}  // namespace convoke::data_prep
