#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convoke/data/dataset_writer.hpp"

/// A dataset may be a folder of shards, `train-00000-of-00016.h5` and so on. Each shard is a dataset file
/// with a part of one split, in order. See docs/formats.md.
namespace convoke::data {

/// Returns "train-00003-of-00016.h5".
std::string shard_name(const std::string& split, std::int64_t shard, std::int64_t shards);

/// Returns the first sample of shard `shard` of `shards` among `samples` samples; shard sizes differ by at
/// most one.
std::int64_t first_of_shard(std::int64_t samples, std::int64_t shard, std::int64_t shards);

/// Returns `splits` to be written as shards of similar size: the largest split as `shards`, at most one for
/// each sample.
std::vector<SplitSize> in_shards(std::vector<SplitSize> splits, std::int64_t shards);

/// Returns the files of each split in a folder, by shard. Ignores files whose names are not those of shards.
/// Throws Error naming a shard that is missing or does not belong, or if there is no shard.
std::map<std::string, std::vector<std::filesystem::path>> shards_in(const std::filesystem::path& folder);

/// True for a name like "train-00003-of-00016.h5".
bool is_shard_name(const std::string& file_name);

/// True if `path` is a folder with at least one file that has a shard's name.
bool has_shards(const std::filesystem::path& path);

}  // namespace convoke::data
