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
};

/// Writes a dataset file under a temporary name, `<file>.part`, which finish() renames: a half file never
/// bears the name. Several processes can fill one file: one creates it and gives places() to the others,
/// which join.
class DatasetWriter {
 public:
  /// `info` says shape, classes, class names and provenance; mean, deviation and hash are computed by
  /// finish(). Throws Error if the file exists and `overwrite` is not set, cannot be made, or the sizes make
  /// no dataset.
  static DatasetWriter create(const std::filesystem::path& file, DatasetInfo info,
                              std::vector<SplitSize> splits, bool overwrite = false);

  /// Opens what another process has created, with the same arguments and its places().
  static DatasetWriter join(const std::filesystem::path& file, DatasetInfo info,
                            std::vector<SplitSize> splits, std::span<const std::uint64_t> places);

  DatasetWriter(DatasetWriter&& other) noexcept;
  DatasetWriter& operator=(DatasetWriter&&) = delete;
  /// Without finish(): the creator's removes the temporary file.
  ~DatasetWriter();

  /// Byte offsets of each split's samples and labels in the file: 2 per split.
  std::vector<std::uint64_t> places() const;

  /// Samples first, first + 1, ... of a split: (n, H, W, C) values and n labels, in any order of calls; every
  /// sample must be written once by some process. Throws Error for a label outside 0..classes-1, naming the
  /// sample, and where writing fails.
  void write(const std::string& split, std::int64_t first, std::span<const std::uint8_t> samples,
             std::span<const std::int32_t> labels);

  /// What this process wrote is on the disk. For those that joined; before the creator's finish().
  void flush();

  /// Computes mean, deviation and hash from the file, completes and renames it. By the creator, when all have
  /// written and flushed. Returns what the file now says of itself.
  DatasetInfo finish();

 private:
  struct Place {
    std::string name;
    std::int64_t count;
    std::uint64_t samples, labels;  // byte offsets
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
