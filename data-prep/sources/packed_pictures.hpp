#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// A file of a source that consists of one or several such files.
struct Shard {
  std::filesystem::path path;
  std::string name;   ///< path relative to the source's folder
  std::string split;  ///< from its name or those of its folders; empty: unknown
};

/// Returns `path` itself, or the files below it for which `is_one` is true, sorted by name. Does not follow
/// links to folders.
std::vector<Shard> find_shards(const std::filesystem::path& path,
                               bool (*is_one)(const std::filesystem::path&));

/// True if `path` is a file, or a folder with a file below it, for which `is_one` is true.
bool has_shard(const std::filesystem::path& path, bool (*is_one)(const std::filesystem::path&));

/// Returns the split in a path; later parts come first. The split is one of the words train, training, val,
/// valid, validation, dev, eval, test and testing, between characters that are not letters.
/// "flowers-train-00000-of-00004", "train00-512x512.tfrec" and "val/03.tar" have one; "contrast.tar" does
/// not.
std::string split_in_path(const std::filesystem::path& path);

/// Encoded pictures in larger files, and their positions.
struct PackedPictures {
  struct Place {
    std::size_t shard = 0;
    std::uint64_t offset = 0;  ///< in the shard's (unpacked) bytes
    std::uint64_t bytes = 0;
  };

  Catalog catalog = {};
  std::vector<Place> places = {};  ///< of each item; not set for an item without a picture, which has a fault
  std::vector<Shard> shards = {};
  std::unique_ptr<archive::ByteReader> (*open)(const std::filesystem::path&) = nullptr;  ///< opens a shard
};

/// Returns the source that decodes them. Throws Error as PictureReader does, and if there are fewer than 2
/// classes.
std::unique_ptr<Source> decode_packed(PackedPictures pictures, const PictureOptions& options,
                                      const std::filesystem::path& path);

}  // namespace convoke::data_prep
