#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace convoke::data {

/// How the samples of a split lie in a dataset's files.
struct StoredLayout {
  std::int64_t samples = 0;
  std::uint64_t bytes = 0;  ///< of all samples, as memory has them
  std::uint64_t sample_bytes = 0;
  std::size_t files = 0;   ///< 1, or as many as there are shards
  bool contiguous = true;  ///< read where they lie; else through HDF5, chunk by chunk, maybe unpacked
  std::filesystem::path first = {};  ///< the file that holds the first sample
};

/// Reads no samples. Throws as data::inspect.
StoredLayout stored_layout(const std::filesystem::path& dataset, const std::string& split);

}  // namespace convoke::data
