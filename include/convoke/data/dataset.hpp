#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/sample_stream.hpp"
#include "convoke/data/samples.hpp"

namespace convoke::data {

/// Attributes of a dataset file; see docs/formats.md.
struct DatasetInfo {
  /// A sample's shape as networks see it: (C, H, W) for images, which are stored as (N, H, W, C); (F) for
  /// features, (L, F) for sequences, (L) for tokens.
  Shape sample_shape;
  SampleType sample_type = SampleType::kUint8;
  std::int64_t classes = 0;
  std::vector<std::string> class_names = {};  ///< empty or `classes` names
  /// Statistics of the training split in units of the stored values, one per channel or feature. Empty for
  /// tokens, and if a file of another program lacks them.
  std::vector<double> channel_mean = {};
  std::vector<double> channel_std = {};
  std::int64_t vocabulary = 0;    ///< tokens are 0..vocabulary-1; 0: the file does not say
  std::string provenance = {};    ///< where the samples came from; may be empty
  std::string content_hash = {};  ///< over samples, labels and weights of all splits; may be empty
  std::string preparation = {};   ///< JSON: how the sources were prepared, see docs/formats.md; may be empty
  std::string assumptions = {};   ///< JSON: a list of what the sources were taken for; may be empty
};

/// One split. A view: the bytes belong to the dataset.
struct Split {
  /// Dense, as stored: (N, H, W, C), (N, L, F), (N, F) or (N, L). Streamed: empty, of the right type.
  Samples samples;
  std::span<const std::int32_t> labels;  ///< (N), each in 0..classes-1
  std::span<const float> weights = {};   ///< (N), the weight of each in the loss; empty: all 1
  /// (N), at least 0: samples of equal number belong together, as do those of one patient, and are trained on
  /// or held out together; empty: every sample is on its own.
  std::span<const std::int32_t> groups = {};
  /// (N, classes), class probabilities for training; empty: none. They do not come from the dataset.
  std::span<const float> soft_labels = {};
  std::int32_t largest_token = -1;            ///< of tokens: an embedding needs more rows than this; else -1
  std::shared_ptr<SampleStream> stream = {};  ///< source of samples that are not in memory

  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
  SampleType type() const { return type_of(samples); }
  /// The samples as T, which must be the type of the split.
  template <class T>
  std::span<const T> values() const {
    return std::get<std::span<const T>>(samples);
  }
};

/// Memory for a dataset. `allocate` returns at least `bytes` bytes that live as long as the dataset. In a
/// window that the processes of a node share, each of `parts` reads and checks one part of the samples; then
/// all call `ready`, which returns when all have called it. This keeps MPI out of `data`.
struct Storage {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  std::function<std::span<std::byte>(std::size_t bytes)> allocate;
  std::int64_t part = 0, parts = 1;
  /// In bytes. Splits that do not fit are streamed; equal for all processes of the job, also on other nodes.
  std::size_t budget = kUnlimited;
  std::function<void()> ready = [] {};
  /// Runs `work` on one of all processes that open the dataset, also on other nodes, and returns its text on
  /// all of them; all throw its errors.
  std::function<std::string(const std::function<std::string()>& work)> at_first = [](const auto& work) {
    return work();
  };
};

/// Returns storage of this process alone.
Storage private_storage(std::size_t budget = Storage::kUnlimited);

/// Returns the attributes of the dataset `file` (a file or a folder of shards) and of these splits, without
/// reading samples. Throws as Dataset::open.
DatasetInfo inspect(const std::filesystem::path& file, const std::vector<std::string>& splits);

/// Returns the size of each sample of a split before it was fitted to the dataset's shape: (N, 2), height and
/// width of a picture, or length of a text and 0. Empty if the dataset does not have it. Throws as
/// Dataset::open.
std::vector<std::int32_t> original_sizes(const std::filesystem::path& file, const std::string& split);

/// Returns the group of each sample of a split (Split::groups): (N). Empty if the dataset does not have it.
/// Throws as Dataset::open.
std::vector<std::int32_t> stored_groups(const std::filesystem::path& file, const std::string& split);

/// Identifies the groups of a split: "" without groups.
std::string hash_of_groups(const Split& split);

/// Returns the bytes of each picture of a split in the files. Empty if the pictures are not encoded. Throws
/// as Dataset::open.
std::vector<std::int64_t> encoded_sizes(const std::filesystem::path& file, const std::string& split);

/// A dataset: the requested splits, in memory or, where the budget does not allow that, streamed. Labels and
/// weights are always in memory. Move only.
class Dataset {
 public:
  /// Reads `splits` ("train", "test", ...) of `file`, or of a folder of shards (shards.hpp). Throws Error
  /// naming the file and the cause: missing, not HDF5, truncated, a newer format, no such split, a wrong type
  /// or shape, a shard that is missing or foreign; for an invalid label, token, weight or number it names the
  /// sample.
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

/// The layout of a split's samples in a dataset's files.
struct StoredLayout {
  std::int64_t samples = 0;
  std::uint64_t bytes = 0;  ///< of all samples, as they are in memory
  std::uint64_t sample_bytes = 0;
  std::uint64_t encoded_bytes = 0;  ///< of all samples in the files, if they are encoded pictures; else 0
  std::size_t files = 0;            ///< 1, or as many as there are shards
  bool contiguous = true;  ///< read in place; else through HDF5, chunk by chunk, and perhaps unpacked
  std::filesystem::path first = {};  ///< the file that holds the first sample
};

/// Returns the layout without reading samples. Throws as data::inspect.
StoredLayout stored_layout(const std::filesystem::path& dataset, const std::string& split);

/// True if the provenance of a dataset says that `convoke synthesize` made it.
bool is_synthetic(const std::string& provenance);

/// Returns the note that accompanies every result on synthetic data, with its line end; "" for other data.
std::string provenance_note(const std::string& provenance);

}  // namespace convoke::data
