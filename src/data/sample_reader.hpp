#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "convoke/os/file.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {

/// Reads rows of an array from the files that hold them: by pread where the bytes lie as they are in memory,
/// else through HDF5, which unpacks and converts. Any number of threads may read; threads that need HDF5 take
/// turns.
class ArrayReader {
 public:
  /// Rows have `row_bytes` bytes with values of `type`.
  ArrayReader(StoredArray pieces, SampleType type, std::size_t row_bytes);

  /// Reads the rows first, first + 1, ..., as many as `rows` holds. Throws Error naming the file if it
  /// cannot be opened or read, or ends.
  void read(std::int64_t first, std::span<std::byte> rows) const;

  /// Asks the system to read these rows ahead, where it can.
  void will_need(std::int64_t first, std::int64_t count) const;

  /// True if no row needs HDF5, which lets only one thread of the process read at a time.
  bool direct() const { return direct_; }

 private:
  void read_piece(std::size_t piece, std::int64_t first, std::span<std::byte> rows) const;
  std::size_t index_of(std::int64_t row) const;

  StoredArray pieces_;
  SampleType type_;
  std::size_t row_bytes_;
  bool direct_ = true;
  mutable std::deque<os::RecentFile> files_;  // of the pieces; opened and closed as they are needed
};

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
