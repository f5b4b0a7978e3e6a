#pragma once
#include <cstdint>

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
