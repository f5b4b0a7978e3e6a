#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

/// Names in a dataset file; docs/formats.md explains them.
namespace convoke::data::format {

inline constexpr std::int64_t kVersion = 1;         // of datasets without encoded pictures
inline constexpr std::int64_t kEncodedVersion = 2;  // of others; the highest that this program reads

inline constexpr const char* kFormat = "convoke_format";  // attribute of the root: "dataset"
inline constexpr const char* kDataset = "dataset";
inline constexpr const char* kFormatVersion = "format_version";
inline constexpr const char* kClasses = "classes";
inline constexpr const char* kClassNames = "class_names";
inline constexpr const char* kChannelMean = "channel_mean";
inline constexpr const char* kChannelStd = "channel_std";
inline constexpr const char* kVocabulary = "vocabulary";
inline constexpr const char* kProvenance = "provenance";
inline constexpr const char* kContentHash = "content_hash";
inline constexpr const char* kSampleShape = "sample_shape";  // of encoded pictures: (H, W, C)
inline constexpr const char* kShard = "shard";    // of a dataset in shards: the number of this file, from 0
inline constexpr const char* kShards = "shards";  // the number of shards of its split

inline constexpr const char* kPreparation = "preparation";  // datasets in the root
inline constexpr const char* kAssumptions = "assumptions";

inline constexpr const char* kSamples = "samples";           // datasets in each split's group
inline constexpr const char* kEncoded = "encoded";           // instead of samples: the bytes of all pictures
inline constexpr const char* kEncodedEnds = "encoded_ends";  // and where each ends
inline constexpr const char* kLabels = "labels";
inline constexpr const char* kWeights = "weights";
inline constexpr const char* kOriginalSizes = "original_sizes";
inline constexpr const char* kGroups = "groups";

}  // namespace convoke::data::format

// A dataset as its files describe it, before samples are read; see docs/formats.md.
namespace convoke::data {

/// Rows of an array in one file: all of them, or the part in a shard.
struct StoredPiece {
  std::int64_t first = 0, count = 0;  ///< rows
  std::filesystem::path file;
  std::string path;                     ///< in the file: "/train/samples"
  std::optional<std::uint64_t> offset;  ///< of its bytes, if they lie in one piece, as in memory

  std::string where() const { return file.string() + ": " + path; }
};

/// An array of a split: pieces in order of their samples. Empty if the split has no such array.
using StoredArray = std::vector<StoredPiece>;

/// Returns the piece that holds a row.
const StoredPiece& piece_of(const StoredArray& array, std::int64_t row);

/// Returns where an encoded sample begins in the bytes of its split. `ends`: of all samples.
inline std::int64_t encoded_begin(std::span<const std::int64_t> ends, std::int64_t sample) {
  return sample == 0 ? 0 : ends[static_cast<std::size_t>(sample - 1)];
}

struct StoredSplit {
  std::string name;
  std::int64_t count = 0;
  SampleType type = SampleType::kUint8;
  Shape shape;  ///< of one sample: (H, W, C), (L, F), (F) or (L)
  StoredArray samples, labels, weights, original_sizes, groups;
  /// If its pictures are encoded: the bytes of all, where a row is a byte, and (count) the end of each in
  /// them. Their `samples` have no offset.
  StoredArray encoded;
  std::vector<std::int64_t> ends;

  bool is_encoded() const { return !ends.empty(); }
  /// The size of a sample in memory.
  std::size_t sample_bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(type); }
};

/// The attributes of a dataset, and the splits that were asked for.
struct Stored {
  DatasetInfo info;
  std::vector<StoredSplit> splits;
};

/// `path`: a file or a folder of shards. Throws Error if it is not a dataset, has a newer format or lacks one
/// of `splits`; if its arrays do not have the types and shapes of samples, labels and weights; if the ends of
/// encoded pictures do not fit to their bytes; or if a shard is missing or belongs to another dataset.
Stored read_structure(const std::filesystem::path& path, const std::vector<std::string>& splits);

/// Returns read_structure() for all processes of `storage`. One of them looks at the shards of a folder, and
/// each other one at one shard. Throws Error as read_structure, or if this shard differs from that of the
/// first process. Collective over them.
Stored read_structure(const std::filesystem::path& path, const std::vector<std::string>& splits,
                      const Storage& storage);

/// The structure of a folder of shards, to be sent to a process that may have the folder elsewhere.
std::string to_bytes(Stored stored);
Stored stored_from_bytes(const std::string& bytes, const std::filesystem::path& folder);

}  // namespace convoke::data
