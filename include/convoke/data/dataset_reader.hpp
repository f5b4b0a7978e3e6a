#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// Reads a dataset in parts, for programs that process all of it but hold little: it keeps labels in memory
/// (4 bytes a sample) and reads samples on request. One thread at a time. Move only.
class DatasetReader {
 public:
  struct Part {
    std::string name;
    std::vector<std::int32_t> labels;  ///< (N), each in 0..classes-1
    std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
  };

  /// Opens every split of `path`, a file or a folder of shards. Throws as Dataset::open, and also if there is
  /// no split.
  explicit DatasetReader(const std::filesystem::path& path);
  DatasetReader(DatasetReader&&) noexcept;
  ~DatasetReader();

  const std::filesystem::path& path() const;
  const DatasetInfo& info() const;
  /// The splits: "train" first if there is one, the others in the order of the file.
  const std::vector<Part>& splits() const;
  /// Number of values of one sample.
  std::size_t sample_size() const;

  /// Reads the samples first, first + 1, ... of splits()[split], as stored: as many as `values` holds. T is
  /// the dataset's type. Throws Error if reading fails, and, naming the sample, if its values are invalid.
  template <class T>
  void read(std::size_t split, std::int64_t first, std::span<T> values) const;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace convoke::data
