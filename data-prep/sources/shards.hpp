#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/files/byte_reader.hpp"

namespace convoke::data_prep {

/// A file of a source that is one or several alike.
struct Shard {
  std::filesystem::path path;
  std::string name;   ///< from the source's folder on
  std::string split;  ///< that its name or those of its folders tell; empty: none does
};

/// `path` itself, or the files below it for which `is_one` holds, in order of their names. Links to folders
/// are not followed.
std::vector<Shard> find_shards(const std::filesystem::path& path,
                               bool (*is_one)(const std::filesystem::path&));

/// True if there is a file below the folder `path`, or it is one, for which `is_one` holds.
bool has_shard(const std::filesystem::path& path, bool (*is_one)(const std::filesystem::path&));

/// The split that a path tells, the last of its parts first: a word of one (train, training, val, valid,
/// validation, dev, eval, test, testing), between characters that are no letters.
/// "flowers-train-00000-of-00004", "train00-512x512.tfrec" and "val/03.tar" tell it; "contrast.tar" does not.
std::string split_in_path(const std::filesystem::path& path);

}  // namespace convoke::data_prep
