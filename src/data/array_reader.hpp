#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/os/file.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {

/// Reads rows of an array from the files that hold them: by pread where the bytes lie as memory has them,
/// else through HDF5, which unpacks and converts. Any number of threads may read; those that need HDF5 take
/// turns.
class ArrayReader {
 public:
  /// Rows of `row_bytes` bytes, values of `type`. Throws Error naming the file that cannot be opened.
  ArrayReader(StoredArray pieces, SampleType type, std::size_t row_bytes);

  /// Rows first, first + 1, ..., as many as `rows` holds. Throws Error naming the file where reading fails or
  /// the file ends.
  void read(std::int64_t first, std::span<std::byte> rows) const;

  /// Asks the system to read these rows ahead, as far as it can.
  void will_need(std::int64_t first, std::int64_t count) const;

  /// True if no row goes through HDF5, where only one thread of the process reads at a time.
  bool direct() const { return direct_; }
  std::size_t row_bytes() const { return row_bytes_; }
  /// The piece that holds a row, for messages.
  const StoredPiece& piece_of(std::int64_t row) const;

 private:
  void read_piece(std::size_t piece, std::int64_t first, std::span<std::byte> rows) const;
  std::size_t index_of(std::int64_t row) const;

  StoredArray pieces_;
  SampleType type_;
  std::size_t row_bytes_;
  bool direct_ = true;
  std::vector<os::File> files_;  // of the first pieces; those beyond are opened for every read
};

}  // namespace convoke::data
