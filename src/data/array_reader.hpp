#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

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

}  // namespace convoke::data
