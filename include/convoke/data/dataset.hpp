#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"

namespace convoke::data {

/// What a dataset file says of itself; see docs/formats.md.
struct DatasetInfo {
  Shape sample_shape;  ///< (C, H, W), as networks see a sample; stored as (N, H, W, C)
  std::int64_t classes = 0;
  std::vector<std::string> class_names;  ///< empty or `classes` names
  std::vector<double> channel_mean;      ///< of the training split, in units of the stored values; C of them
  std::vector<double> channel_std;
  std::string provenance;    ///< where the samples came from
  std::string content_hash;  ///< over samples and labels of all splits
};

/// One split held in memory. A view: the bytes belong to the dataset.
struct Split {
  std::span<const std::uint8_t> samples;  ///< (N, H, W, C), dense
  std::span<const std::int32_t> labels;   ///< (N), each in 0..classes-1
  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Memory for the samples of a dataset: returns at least `bytes` bytes that live as long as the dataset. With
/// a window shared by the ranks of a node, `owner` is true on one rank only, which alone reads the file;
/// `ready` is called by all after that and returns when the owner has filled the memory. `data` thereby never
/// learns of MPI.
struct Storage {
  std::function<std::span<std::byte>(std::size_t bytes)> allocate;
  bool owner = true;
  std::function<void()> ready = [] {};
};

/// Storage of this process alone.
Storage private_storage();

/// A dataset in memory: every split it was asked for. Move only.
class Dataset {
 public:
  /// Reads `splits` ("train", "test", ...) of `file`. Throws Error naming the file and the cause: missing,
  /// not HDF5, truncated, a newer format, no such split, a label out of range.
  static Dataset open(const std::filesystem::path& file, const std::vector<std::string>& splits,
                      Storage storage = private_storage());

  const DatasetInfo& info() const { return info_; }
  const std::filesystem::path& file() const { return file_; }
  /// Throws Error if the split was not opened.
  const Split& split(const std::string& name) const;

 private:
  DatasetInfo info_;
  std::filesystem::path file_;
  std::vector<std::pair<std::string, Split>> splits_;
  std::shared_ptr<void> storage_;
};

}  // namespace convoke::data
