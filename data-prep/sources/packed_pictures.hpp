#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"
#include "sources/shards.hpp"

namespace convoke::data_prep {

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
