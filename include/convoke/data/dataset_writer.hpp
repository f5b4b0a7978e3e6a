#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/os/file.hpp"

namespace convoke::data {

/// The size of a split to be written.
struct SplitSize {
  std::string name;
  std::int64_t samples = 0;
  bool weights = false;         ///< samples have weights
  bool original_sizes = false;  ///< the sizes of samples before fitting are known
  std::int64_t shards = 0;      ///< files of a folder; 0: all splits in one file. See in_shards()
  /// (samples), where each encoded picture ends in the bytes of all. Empty if samples are not encoded.
  std::vector<std::int64_t> encoded_ends = {};
  bool groups = false;  ///< samples have groups (Split::groups)
};

struct StoredSplit;
struct StoredPiece;

/// Writes a dataset (a file or a folder of shards) under a temporary name, `<name>.part`. finish() renames
/// it, so an incomplete dataset never has the final name. Several processes can fill one dataset: one creates
/// it and gives places() to the others, which join. The bytes do not depend on the number of processes.
class DatasetWriter {
 public:
  /// `info` gives shape, type, classes, class names, vocabulary, provenance, preparation and assumptions;
  /// finish() computes mean, standard deviation and hash. Throws Error if the dataset exists and `overwrite`
  /// is not set, if it cannot be created, or if the sizes are invalid.
  static DatasetWriter create(const std::filesystem::path& file, DatasetInfo info,
                              std::vector<SplitSize> splits, bool overwrite = false);

  /// Opens a dataset that another process has created; takes the same arguments and its places().
  static DatasetWriter join(const std::filesystem::path& file, DatasetInfo info,
                            std::vector<SplitSize> splits, std::span<const std::uint64_t> places);

  DatasetWriter(DatasetWriter&& other) noexcept;
  DatasetWriter& operator=(DatasetWriter&&) = delete;
  /// Without finish(), the creator's destructor removes everything under the temporary name.
  ~DatasetWriter();

  /// Byte offsets of the arrays of each split in each file, as join() needs them: place_count() of them.
  std::vector<std::uint64_t> places() const;
  static std::size_t place_count(std::span<const SplitSize> splits);

  /// Writes the samples first, first + 1, ... of a split, as stored: (n, H, W, C), (n, L, F), (n, F) or (n,
  /// L) values of the dataset's type, or the bytes of n encoded pictures; n labels, and, if the split has
  /// them, n weights, (n, 2) original sizes and n groups. Calls may come in any order. One of the processes
  /// must write every sample once. Throws Error if writing fails, and, naming the sample, for a label outside
  /// 0..classes-1, a token outside the vocabulary, a number that is not finite, a weight that is negative or
  /// not finite, or a negative size or group.
  void write(const std::string& split, std::int64_t first, const Samples& samples,
             std::span<const std::int32_t> labels, std::span<const float> weights = {},
             std::span<const std::int32_t> original_sizes = {}, std::span<const std::int32_t> groups = {});

  /// Makes sure that everything this process wrote is on the disk. Processes that joined call it before the
  /// creator calls finish().
  void flush();

  /// Fills `samples` with the samples first, first + 1, ... of a split, as they are in memory.
  using ReadSamples =
      std::function<void(std::size_t split, std::int64_t first, std::span<std::byte> samples)>;

  /// Computes mean, standard deviation and hash, completes the files and renames them. The creator calls it
  /// after all have written and flushed. `read`: a quicker way to the samples than to read them from the
  /// files and decode them. Returns the attributes of the complete dataset.
  DatasetInfo finish(const ReadSamples& read = {});

 private:
  DatasetWriter(const std::filesystem::path& file, DatasetInfo info, std::vector<SplitSize> splits);
  void lay_out();
  void take(std::span<const std::uint64_t> places);
  void complete_files();
  os::File& opened(const std::filesystem::path& file);
  void write_rows(const std::vector<StoredPiece>& array, std::int64_t first, std::span<const std::byte> rows,
                  std::size_t row_bytes);

  std::filesystem::path file_, temporary_;
  DatasetInfo info_;
  std::vector<SplitSize> sizes_;
  std::vector<StoredSplit> splits_;  // the positions of the arrays
  bool creator_ = false;             // true for the creator until finish()
  os::File open_;                    // the file that was written last
  std::vector<std::filesystem::path> unsynced_;
};

}  // namespace convoke::data
