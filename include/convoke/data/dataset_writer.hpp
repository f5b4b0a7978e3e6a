#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/hdf5/file.hpp"

namespace convoke::data {

/// A split to be written.
struct SplitSize {
  std::string name;
  std::int64_t samples = 0;
  bool weights = false;  ///< samples have weights
};

/// Writes a dataset file under a temporary name, `<file>.part`, which finish() renames: a half file never
/// bears the name. Several processes can fill one file: one creates it and gives places() to the others,
/// which join.
class DatasetWriter {
 public:
  /// `info` says shape, type, classes, class names, vocabulary and provenance; mean, deviation and hash are
  /// computed by finish(). Throws Error if the file exists and `overwrite` is not set, cannot be made, or the
  /// sizes make no dataset.
  static DatasetWriter create(const std::filesystem::path& file, DatasetInfo info,
                              std::vector<SplitSize> splits, bool overwrite = false);

  /// Opens what another process has created, with the same arguments and its places().
  static DatasetWriter join(const std::filesystem::path& file, DatasetInfo info,
                            std::vector<SplitSize> splits, std::span<const std::uint64_t> places);

  DatasetWriter(DatasetWriter&& other) noexcept;
  DatasetWriter& operator=(DatasetWriter&&) = delete;
  /// Without finish(): the creator's removes the temporary file.
  ~DatasetWriter();

  /// Byte offsets of each split's samples, labels and weights (0 if it has none) in the file.
  static constexpr std::size_t kPlacesPerSplit = 3;
  std::vector<std::uint64_t> places() const;

  /// Samples first, first + 1, ... of a split, as stored: (n, H, W, C), (n, L, F), (n, F) or (n, L) values of
  /// the dataset's type, n labels, and n weights if the split has any; in any order of calls. Every sample
  /// must be written once by some process. Throws Error, naming the sample, for a label outside
  /// 0..classes-1, a token outside the vocabulary, a number that is not finite or a weight that is negative
  /// too; and where writing fails.
  void write(const std::string& split, std::int64_t first, const Samples& samples,
             std::span<const std::int32_t> labels, std::span<const float> weights = {});

  /// What this process wrote is on the disk. For those that joined; before the creator's finish().
  void flush();

  /// Computes mean, deviation and hash from the file, completes and renames it. By the creator, when all have
  /// written and flushed. Returns what the file now says of itself.
  DatasetInfo finish();

 private:
  struct Place {
    std::string name;
    std::int64_t count;
    std::uint64_t samples, labels, weights;  // byte offsets; weights 0: none
  };

  DatasetWriter(const std::filesystem::path& file, DatasetInfo info);
  void open_descriptor();
  const Place& place(const std::string& split) const;
  void measure();

  std::filesystem::path file_, temporary_;
  DatasetInfo info_;
  std::vector<Place> places_;
  std::optional<hdf5::File> structure_;  // of the creator
  int descriptor_ = -1;
};

}  // namespace convoke::data
