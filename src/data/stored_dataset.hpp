#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/hdf5/file.hpp"

// A dataset as its file describes it, before samples are read; see docs/formats.md.

namespace convoke::data {

/// The arrays of a split, as the file describes them.
struct StoredSplit {
  std::string name;
  hdf5::Dataset samples, labels;
  std::optional<hdf5::Dataset> weights;
  std::int64_t count = 0;
  SampleType type = SampleType::kUint8;
  Shape shape;  // of one sample: (H, W, C), (L, F), (F) or (L)
};

/// What a file says of itself, and of the splits that were asked for.
struct Stored {
  DatasetInfo info;
  std::vector<StoredSplit> splits;
};

/// Throws Error where the file is no dataset, is of a newer format, lacks one of `splits`, or its arrays do
/// not have the types and shapes of samples, labels and weights.
Stored look_at(const hdf5::File& file, const std::vector<std::string>& splits);

}  // namespace convoke::data
