#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace convoke::data {

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

}  // namespace convoke::data
