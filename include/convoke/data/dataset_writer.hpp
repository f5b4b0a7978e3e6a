#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/os/file.hpp"

namespace convoke::data {

/// A split to be written.
struct SplitSize {
  std::string name;
  std::int64_t samples = 0;
  bool weights = false;         ///< samples have weights
  bool original_sizes = false;  ///< it is known how large samples were before they were fitted
  std::int64_t shards = 0;      ///< files of a folder; 0: all splits in one file. See in_shards()
};

struct StoredSplit;
struct StoredPiece;

/// Writes a dataset, a file or a folder of shards, under a temporary name, `<name>.part`, which finish()
/// renames: half a dataset never bears the name. Several processes can fill one dataset: one creates it and
/// gives places() to the others, which join. The bytes do not depend on how many there are.
class DatasetWriter {
 public:
  /// `info` says shape, type, classes, class names, vocabulary, provenance and preparation; mean, deviation
  /// and hash are computed by finish(). Throws Error if the dataset exists and `overwrite` is not set, cannot
  /// be made, or the sizes make no dataset.
  static DatasetWriter create(const std::filesystem::path& file, DatasetInfo info,
                              std::vector<SplitSize> splits, bool overwrite = false);

  /// Opens what another process has created, with the same arguments and its places().
  static DatasetWriter join(const std::filesystem::path& file, DatasetInfo info,
                            std::vector<SplitSize> splits, std::span<const std::uint64_t> places);

  DatasetWriter(DatasetWriter&& other) noexcept;
  DatasetWriter& operator=(DatasetWriter&&) = delete;
  /// Without finish(): the creator's removes what is under the temporary name.
  ~DatasetWriter();

  /// Byte offsets of the arrays of each split in each file, to be handed to join(): place_count() of them.
  std::vector<std::uint64_t> places() const;
  static std::size_t place_count(std::span<const SplitSize> splits);

  /// Samples first, first + 1, ... of a split, as stored: (n, H, W, C), (n, L, F), (n, F) or (n, L) values of
  /// the dataset's type, n labels, and, as the split has them, n weights and (n, 2) original sizes; in any
  /// order of calls. Every sample must be written once by some process. Throws Error, naming the sample, for
  /// a label outside 0..classes-1, a token outside the vocabulary, a number that is not finite, a weight that
  /// is negative too, or a size that is negative; and where writing fails.
  void write(const std::string& split, std::int64_t first, const Samples& samples,
             std::span<const std::int32_t> labels, std::span<const float> weights = {},
             std::span<const std::int32_t> original_sizes = {});

  /// What this process wrote is on the disk. For those that joined; before the creator's finish().
  void flush();

  /// Computes mean, deviation and hash, completes the files and renames them. By the creator, when all have
  /// written and flushed. Returns what the dataset now says of itself.
  DatasetInfo finish();

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
  std::vector<StoredSplit> splits_;  // where the arrays are
  bool creator_ = false;             // and not finished
  os::File open_;                    // the file that was written last
  std::vector<std::filesystem::path> unsynced_;
};

}  // namespace convoke::data
