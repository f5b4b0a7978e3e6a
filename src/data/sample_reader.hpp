#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array_reader.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {

/// Reads the samples of a split as they are in memory. Encoded pictures are decoded by the thread that reads
/// them. Any number of threads may read.
class SampleReader {
 public:
  /// Throws Error naming the file that cannot be opened.
  explicit SampleReader(const StoredSplit& split);

  /// Reads the samples first, first + 1, ..., as many as `samples` holds. Throws Error naming the file if
  /// reading fails or the file ends, and, naming the sample, if a picture cannot be decoded or does not have
  /// the shape of the samples.
  void read(std::int64_t first, std::span<std::byte> samples) const;

  /// Asks the system to read these samples ahead, where it can.
  void will_need(std::int64_t first, std::int64_t count) const;

  /// True if no sample needs HDF5, which lets only one thread of the process read at a time.
  bool direct() const { return stored_.direct(); }
  bool encoded() const { return !ends_.empty(); }
  std::size_t sample_bytes() const { return sample_bytes_; }

 private:
  StoredArray samples_;
  Shape shape_;
  std::size_t sample_bytes_;
  std::vector<std::int64_t> ends_;  // of encoded samples
  ArrayReader stored_;              // rows are samples or, if they are encoded, bytes
};

}  // namespace convoke::data
