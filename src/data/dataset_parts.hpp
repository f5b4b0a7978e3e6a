#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "convoke/data/dataset_writer.hpp"
#include "convoke/hdf5/file.hpp"
#include "stored_dataset.hpp"

// The arrays of a split, and the files of a dataset that is being written.

namespace convoke::data {

/// Returns the type of the values in a file.
hdf5::ElementType element_type_of(SampleType type);

/// An array of one split: the member of StoredSplit, and the type and width of rows.
struct Column {
  StoredArray StoredSplit::*array;
  const char* name;
  hdf5::ElementType type;
  std::int64_t width;  ///< 0: the width of a sample
};
inline constexpr std::array kColumns{
    Column{&StoredSplit::samples, format::kSamples, hdf5::ElementType::kOther, 0},
    Column{&StoredSplit::encoded, format::kEncoded, hdf5::ElementType::kUint8, 1},
    Column{&StoredSplit::labels, format::kLabels, hdf5::ElementType::kInt32, 1},
    Column{&StoredSplit::weights, format::kWeights, hdf5::ElementType::kFloat32, 1},
    Column{&StoredSplit::original_sizes, format::kOriginalSizes, hdf5::ElementType::kInt32, 2},
    Column{&StoredSplit::groups, format::kGroups, hdf5::ElementType::kInt32, 1},
};

bool has_column(const SplitSize& split, const Column& column);

/// True if each split lies in shards; false if all splits lie in one file.
inline bool sharded(std::span<const SplitSize> splits) { return splits.front().shards > 0; }

/// One file of the dataset: all splits, or one shard of one of them.
struct Part {
  std::filesystem::path file;
  std::vector<std::size_t> splits;
  std::int64_t shard = 0, shards = 0;  ///< 0: the dataset is one file
};
std::vector<Part> parts_of(const std::filesystem::path& path, const std::vector<SplitSize>& splits);

/// Returns the samples of a split that a part holds: first, count.
std::pair<std::int64_t, std::int64_t> range_of(const Part& part, const SplitSize& split);

/// Returns the rows of a column that a part holds: samples, or the bytes of encoded samples.
std::pair<std::int64_t, std::int64_t> rows_of(const Part& part, const SplitSize& split, const Column& column);

/// Reserves the arrays of a part, always in the same order, so that HDF5 puts them at the same places.
/// Returns the places of all columns of each of its splits; 0 for a column that a split does not have.
std::vector<std::uint64_t> reserve(hdf5::File& structure, const Part& part,
                                   const std::vector<SplitSize>& splits, const DatasetInfo& info);

/// Writes the format version and, for encoded pictures, their shape and where each ends in this file.
void write_encoding(hdf5::File& structure, const Part& part, const std::vector<SplitSize>& splits,
                    const DatasetInfo& info);

/// Fills in the attributes that follow from a dataset's content: mean and standard deviation of each channel
/// of the training split (the first split if there is no "train"), and the hash: the CRC-32 of the samples,
/// the labels and the weights of every split in turn. The result does not depend on the number of files.
/// `given` reads the samples of splits[i], instead of from the files; may be empty.
void measure(const std::vector<StoredSplit>& splits, DatasetInfo& info,
             const DatasetWriter::ReadSamples& given = {});

}  // namespace convoke::data
