#include "dataset_parts.hpp"

#include "convoke/data/shards.hpp"

namespace convoke::data {

hdf5::ElementType element_type_of(SampleType type) {
  if (type == SampleType::kUint8) return hdf5::ElementType::kUint8;
  return type == SampleType::kInt32 ? hdf5::ElementType::kInt32 : hdf5::ElementType::kFloat32;
}

bool has_column(const SplitSize& split, const Column& column) {
  if (column.array == &StoredSplit::samples) return split.encoded_ends.empty();
  if (column.array == &StoredSplit::encoded) return !split.encoded_ends.empty();
  if (column.array == &StoredSplit::weights) return split.weights;
  if (column.array == &StoredSplit::original_sizes) return split.original_sizes;
  return column.array != &StoredSplit::groups || split.groups;
}

std::vector<Part> parts_of(const std::filesystem::path& path, const std::vector<SplitSize>& splits) {
  std::vector<Part> parts;
  if (!sharded(splits)) {
    Part& all = parts.emplace_back(Part{path, {}});
    for (std::size_t i = 0; i < splits.size(); ++i) all.splits.push_back(i);
    return parts;
  }
  for (std::size_t i = 0; i < splits.size(); ++i) {
    for (std::int64_t shard = 0; shard < splits[i].shards; ++shard) {
      parts.push_back(
          {path / shard_name(splits[i].name, shard, splits[i].shards), {i}, shard, splits[i].shards});
    }
  }
  return parts;
}

std::pair<std::int64_t, std::int64_t> range_of(const Part& part, const SplitSize& split) {
  if (part.shards == 0) return {0, split.samples};
  const std::int64_t first = first_of_shard(split.samples, part.shard, part.shards);
  return {first, first_of_shard(split.samples, part.shard + 1, part.shards) - first};
}

std::pair<std::int64_t, std::int64_t> rows_of(const Part& part, const SplitSize& split,
                                              const Column& column) {
  const auto [first, count] = range_of(part, split);
  if (column.array != &StoredSplit::encoded) return {first, count};
  const std::int64_t begin = encoded_begin(split.encoded_ends, first);
  return {begin, encoded_begin(split.encoded_ends, first + count) - begin};
}

std::vector<std::uint64_t> reserve(hdf5::File& structure, const Part& part,
                                   const std::vector<SplitSize>& splits, const DatasetInfo& info) {
  std::vector<std::uint64_t> places;
  for (const std::size_t i : part.splits) {
    const SplitSize& split = splits[i];
    const hdf5::Group group = structure.create_group(split.name);
    for (const Column& column : kColumns) {
      if (!has_column(split, column)) {
        places.push_back(0);
        continue;
      }
      std::vector<std::int64_t> extents{rows_of(part, split, column).second};
      if (column.width == 0) {
        const std::vector<std::int64_t> sample = stored_shape(info.sample_shape).extents();
        extents.insert(extents.end(), sample.begin(), sample.end());
      } else if (column.width > 1) {
        extents.push_back(column.width);
      }
      const hdf5::ElementType type = column.width == 0 ? element_type_of(info.sample_type) : column.type;
      places.push_back(
          structure.reserve(group.path() + "/" + column.name, type, Shape(extents)).raw_offset().value());
    }
  }
  return places;
}

void write_encoding(hdf5::File& structure, const Part& part, const std::vector<SplitSize>& splits,
                    const DatasetInfo& info) {
  const bool encoded = !splits.front().encoded_ends.empty();
  structure.set_attribute(format::kFormatVersion, encoded ? format::kEncodedVersion : format::kVersion);
  if (!encoded) return;
  structure.set_attribute(format::kSampleShape,
                          std::span<const std::int64_t>(stored_shape(info.sample_shape).extents()));
  for (const std::size_t i : part.splits) {
    const auto [first, count] = range_of(part, splits[i]);
    const std::span all(splits[i].encoded_ends);
    std::vector<std::int64_t> ends;
    for (std::int64_t sample = first + 1; sample <= first + count; ++sample)
      ends.push_back(encoded_begin(all, sample) - encoded_begin(all, first));
    structure.write(splits[i].name + "/" + format::kEncodedEnds, ends);
  }
}

}  // namespace convoke::data
