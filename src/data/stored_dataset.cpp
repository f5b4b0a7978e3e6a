#include "stored_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/finite.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/versions.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/pictures/decode.hpp"
#include "dataset_parts.hpp"

namespace convoke::data {
namespace {

void expect(bool holds, const hdf5::Object& object, const std::string& otherwise, std::string hint = {}) {
  if (!holds) throw Error(fmt::format("{}: {}", object.where(), otherwise), std::move(hint));
}

Error no_split(const std::filesystem::path& place, const std::string& name,
               const std::vector<std::string>& splits) {
  return Error(fmt::format("{}: has no split \"{}\"{}", place.string(), name, did_you_mean(name, splits)),
               "its splits: " + listing(splits));
}

void check_format(const hdf5::File& file) {
  if (!file.has_attribute(format::kFormat) ||
      file.attribute<std::string>(format::kFormat) != format::kDataset) {
    throw Error(fmt::format("{}: is an HDF5 file, but not a Convoke dataset", file.file().string()),
                "make one with `convoke prepare SOURCE --output FILE`");
  }
  require_known_format(file.file().string(), file.attribute<std::int64_t>(format::kFormatVersion),
                       format::kEncodedVersion);
}

template <class T>
T attribute_or_none(const hdf5::File& file, const char* name) {
  return file.has_attribute(name) ? file.attribute<T>(name) : T{};
}

std::string text_or_none(const hdf5::File& file, const char* name) {
  if (!file.has_dataset(name)) return {};
  const std::vector<std::uint8_t> text = file.read<std::uint8_t>(name);
  return {text.begin(), text.end()};
}

DatasetInfo read_info(const hdf5::File& file) {
  DatasetInfo info;
  info.classes = file.attribute<std::int64_t>(format::kClasses);
  expect(info.classes >= 2, file, fmt::format("has {} classes; at least 2 are needed", info.classes));
  info.class_names = attribute_or_none<std::vector<std::string>>(file, format::kClassNames);
  std::ranges::transform(info.class_names, info.class_names.begin(), one_line);
  expect(info.class_names.empty() || static_cast<std::int64_t>(info.class_names.size()) == info.classes, file,
         fmt::format("has {} class names for {} classes", info.class_names.size(), info.classes));
  info.provenance = harmless(attribute_or_none<std::string>(file, format::kProvenance));
  info.content_hash = attribute_or_none<std::string>(file, format::kContentHash);
  info.preparation = text_or_none(file, format::kPreparation);
  info.assumptions = text_or_none(file, format::kAssumptions);
  return info;
}

// Either both or neither, one value per channel or feature.
void read_statistics(const hdf5::File& file, DatasetInfo& info) {
  info.channel_mean = attribute_or_none<std::vector<double>>(file, format::kChannelMean);
  info.channel_std = attribute_or_none<std::vector<double>>(file, format::kChannelStd);
  if (info.channel_mean.empty() && info.channel_std.empty()) return;
  const std::int64_t channels = channel_count(info.sample_type, info.sample_shape);
  for (const std::vector<double>* values : {&info.channel_mean, &info.channel_std}) {
    expect(static_cast<std::int64_t>(values->size()) == channels && all_finite(*values), file,
           fmt::format("needs a mean and a standard deviation for each of its {} {}", channels,
                       kind_of(info.sample_type, info.sample_shape) == "images" ? "channels" : "features"));
  }
}

void read_vocabulary(const hdf5::File& file, DatasetInfo& info) {
  if (!file.has_attribute(format::kVocabulary)) return;
  info.vocabulary = file.attribute<std::int64_t>(format::kVocabulary);
  expect(info.vocabulary >= 1, file,
         fmt::format("has vocabulary {}, but it must be the number of distinct tokens, including padding",
                     info.vocabulary));
}

std::optional<SampleType> sample_type_of(hdf5::ElementType stored) {
  if (stored == hdf5::ElementType::kUint8) return SampleType::kUint8;
  if (stored == hdf5::ElementType::kInt32) return SampleType::kInt32;
  if (stored == hdf5::ElementType::kFloat32) return SampleType::kFloat32;
  return {};
}

// Checks an array of one value, or `width` values, per sample.
void expect_column(const hdf5::Dataset& stored, const Column& column, std::int64_t count) {
  const Shape shape = stored.shape();
  const Shape wanted = column.width == 1 ? Shape{count} : Shape{count, column.width};
  const bool typed = stored.type() == column.type;
  expect(typed && shape == wanted, stored,
         fmt::format("holds {} of shape {}; {} samples need {} of shape {}", hdf5::name_of(stored.type()),
                     shape.to_string(), count, hdf5::name_of(column.type), wanted.to_string()),
         typed ? "" : fmt::format("store it with .astype(\"{}\")", hdf5::name_of(column.type)));
  stored.expect_stored();
}

std::vector<std::string> splits_in(const hdf5::File& file) {
  std::vector<std::string> names = file.children();
  std::erase_if(names, [&](const std::string& name) { return !file.has_group(name); });
  return names;
}

StoredArray array_of(const hdf5::File& file, const hdf5::Dataset& dataset) {
  return {{0, dataset.shape()[0], file.file(), dataset.path(), dataset.raw_offset()}};
}

// The ends follow each other strictly, because no picture has 0 bytes, up to that of all bytes.
std::vector<std::int64_t> read_ends(const hdf5::Dataset& stored, std::int64_t bytes) {
  expect(stored.type() == hdf5::ElementType::kInt64 && stored.shape().rank() == 1 && stored.shape()[0] > 0,
         stored,
         fmt::format("holds {} of shape {}; the ends of encoded pictures are int64 (N)",
                     hdf5::name_of(stored.type()), stored.shape().to_string()));
  stored.expect_stored();
  std::vector<std::int64_t> ends(static_cast<std::size_t>(stored.shape()[0]));
  stored.read(std::span(ends));
  const auto wrong = std::ranges::adjacent_find(ends, std::greater_equal());
  if (wrong != ends.end() || ends.front() <= 0 || ends.back() != bytes) {
    const std::string what =
        ends.front() <= 0 ? fmt::format("sample 0 ends at byte {}", ends.front())
        : wrong != ends.end()
            ? fmt::format("sample {} ends at byte {}, but sample {} at {}", wrong - ends.begin(), wrong[0],
                          wrong - ends.begin() + 1, wrong[1])
            : fmt::format("the last sample ends at byte {} of {}", ends.back(), bytes);
    throw Error(fmt::format("{}: is damaged: {}", stored.where(), what),
                "copy the dataset again, or prepare the data again");
  }
  return ends;
}

// Describes pictures that are stored as JPEG or PNG, one after the other.
StoredSplit describe_encoded(const hdf5::File& file, const hdf5::Group& group) {
  const hdf5::Dataset encoded = group.dataset(format::kEncoded);
  expect(encoded.type() == hdf5::ElementType::kUint8 && encoded.shape().rank() == 1, encoded,
         fmt::format("holds {} of shape {}; encoded pictures are uint8 (bytes of all)",
                     hdf5::name_of(encoded.type()), encoded.shape().to_string()));
  StoredSplit split;
  split.ends = read_ends(group.dataset(format::kEncodedEnds), encoded.shape()[0]);
  split.count = std::ssize(split.ends);
  split.shape = Shape(file.attribute<std::vector<std::int64_t>>(format::kSampleShape));
  const Shape& shape = split.shape;
  expect(shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3) &&
             std::ranges::all_of(
                 shape.extents(),
                 [](std::int64_t extent) { return extent > 0 && extent <= pictures::kLongestSide; }),
         file,
         fmt::format("has the {} {}; it is height, width and 1 or 3 channels", format::kSampleShape,
                     shape.to_string()));
  split.encoded = array_of(file, encoded);
  split.samples = {{0, split.count, file.file(), encoded.path(), {}}};
  return split;
}

StoredSplit describe_samples(const hdf5::File& file, const hdf5::Group& group) {
  const hdf5::Dataset samples = group.dataset(format::kSamples);
  const Shape shape = samples.shape();
  const std::optional<SampleType> type = sample_type_of(samples.type());
  expect(type && shape.rank() > 1 && may_have_rank(*type, shape.rank() - 1) && shape.elements() > 0, samples,
         fmt::format("holds {} of shape {}; samples are uint8 images (N, H, W, C), int32 tokens (N, L), or "
                     "float32 features (N, F), sequences (N, L, F) or images (N, H, W, C)",
                     hdf5::name_of(samples.type()), shape.to_string()),
         "convert it with .reshape(...) and .astype(\"uint8\"), .astype(\"int32\") or .astype(\"float32\")");
  StoredSplit split;
  split.count = shape[0];
  split.type = *type;
  split.shape = Shape(std::vector<std::int64_t>(shape.extents().begin() + 1, shape.extents().end()));
  split.samples = array_of(file, samples);
  return split;
}

// Describes a split as stored in this file alone.
StoredSplit describe(const hdf5::File& file, const std::string& name) {
  if (!file.has_group(name)) throw no_split(file.file(), name, splits_in(file));
  const hdf5::Group group = file.group(name);
  StoredSplit split =
      group.contains(format::kEncoded) ? describe_encoded(file, group) : describe_samples(file, group);
  split.name = name;
  for (const Column& column : kColumns) {
    if (column.array == &StoredSplit::samples || column.array == &StoredSplit::encoded) continue;
    if (column.array != &StoredSplit::labels && !group.contains(column.name)) continue;
    const hdf5::Dataset dataset = group.dataset(column.name);
    expect_column(dataset, column, split.count);
    split.*column.array = array_of(file, dataset);
  }
  return split;
}

void expect_same_samples(const StoredSplit& split, const StoredSplit& first) {
  if (split.shape == first.shape && split.type == first.type) return;
  throw Error(fmt::format("{}: holds {} samples of shape {}, but split \"{}\" holds {} of {}",
                          split.samples.front().where(), name_of(split.type), split.shape.to_string(),
                          first.name, name_of(first.type), first.shape.to_string()));
}

void expect_countable(const StoredSplit& split) {
  if (split.count <= std::numeric_limits<std::uint32_t>::max()) return;
  throw Error(fmt::format("{}: holds {} samples; they are numbered with 32 bits, so at most 4,294,967,295",
                          split.samples.front().where(), split.count));
}

// Reads the attributes of a file whose samples are known.
DatasetInfo complete_info(const hdf5::File& file, const StoredSplit& split) {
  DatasetInfo info = read_info(file);
  info.sample_type = split.type;
  info.sample_shape = seen_shape(split.shape);
  if (split.type == SampleType::kInt32) {
    read_vocabulary(file, info);
  } else {
    read_statistics(file, info);
  }
  return info;
}

Stored file_structure(const std::filesystem::path& path, const std::vector<std::string>& names) {
  const hdf5::File file = hdf5::File::open(path);
  check_format(file);
  Stored stored;
  for (const std::string& name : names) {
    stored.splits.push_back(describe(file, name));
    expect_countable(stored.splits.back());
    expect_same_samples(stored.splits.back(), stored.splits.front());
  }
  stored.info = complete_info(file, stored.splits.front());
  return stored;
}

// Compares the attributes that all shards of a dataset share, in the words of docs/formats.md. Returns the
// name of the one that differs, or "".
std::string difference(const DatasetInfo& a, const DatasetInfo& b) {
  if (a.sample_type != b.sample_type) return "type of samples";
  if (a.sample_shape != b.sample_shape) return "shape of samples";
  if (a.classes != b.classes) return format::kClasses;
  if (a.class_names != b.class_names) return format::kClassNames;
  if (a.channel_mean != b.channel_mean) return format::kChannelMean;
  if (a.channel_std != b.channel_std) return format::kChannelStd;
  if (a.vocabulary != b.vocabulary) return format::kVocabulary;
  if (a.content_hash != b.content_hash) return format::kContentHash;
  if (a.preparation != b.preparation) return format::kPreparation;
  return a.assumptions == b.assumptions ? "" : format::kAssumptions;
}

// A Convoke file stores which shard it is; files of other programs may leave it out.
void expect_place(const hdf5::File& file, std::size_t shard, std::size_t shards) {
  if (!file.has_attribute(format::kShard) || !file.has_attribute(format::kShards)) return;
  const auto is = file.attribute<std::int64_t>(format::kShard);
  const auto of = file.attribute<std::int64_t>(format::kShards);
  if (is == static_cast<std::int64_t>(shard) && of == static_cast<std::int64_t>(shards)) return;
  throw Error(fmt::format("{}: its attributes say that it is shard {} of {}", file.file().string(), is, of),
              "the file was renamed or swapped: give it its old name, or prepare the data again");
}

// Appends the samples of a shard to those of the shards before it.
void append(StoredSplit& all, const StoredSplit& shard) {
  const std::int64_t bytes = all.is_encoded() ? all.ends.back() : 0;
  for (const Column& column : kColumns) {
    StoredArray& whole = all.*column.array;
    StoredArray piece = shard.*column.array;
    if (whole.empty() != piece.empty()) {
      throw Error(fmt::format("{}: {} {}, unlike {}", shard.samples.front().file.string(),
                              piece.empty() ? "lacks" : "has", column.name,
                              all.samples.front().file.filename().string()));
    }
    if (piece.empty()) continue;
    piece.front().first = column.array == &StoredSplit::encoded ? bytes : all.count;
    whole.push_back(std::move(piece.front()));
  }
  for (const std::int64_t end : shard.ends) all.ends.push_back(bytes + end);
  all.count += shard.count;
}

// Describes a split of the shards in `files`. `stored.info`: that of the shards so far.
StoredSplit describe_shards(const std::vector<std::filesystem::path>& files, const std::string& name,
                            Stored& stored) {
  StoredSplit all;
  for (std::size_t shard = 0; shard < files.size(); ++shard) {
    const hdf5::File file = hdf5::File::open(files[shard]);
    check_format(file);
    StoredSplit one = describe(file, name);
    DatasetInfo info = complete_info(file, one);
    const bool is_first_shard = shard == 0 && stored.splits.empty();
    const std::filesystem::path& reference =
        is_first_shard ? files[0] : (shard == 0 ? stored.splits.front() : all).samples.front().file;
    if (is_first_shard) stored.info = info;
    if (const std::string what = difference(stored.info, info); !what.empty()) {
      throw Error(fmt::format("{}: is a shard of another dataset than {}: its {} differs",
                              files[shard].string(), reference.filename().string(), what),
                  "put each dataset into its own folder");
    }
    expect_place(file, shard, files.size());
    if (shard == 0) {
      all = std::move(one);
    } else {
      append(all, one);
    }
  }
  expect_countable(all);
  return all;
}

// The hosts of a job may have folders of their own.
void expect_here(const Stored& stored, std::size_t part) {
  const StoredSplit& split = stored.splits.front();
  const std::size_t shard = part % split.samples.size();
  const StoredPiece& there = split.samples[shard];
  const Stored here = file_structure(there.file, {split.name});
  const StoredPiece& piece = here.splits.front().samples.front();
  std::string what = difference(stored.info, here.info);
  if (what.empty() && (piece.count != there.count || piece.offset != there.offset)) what = "samples";
  if (what.empty()) return;
  throw Error(fmt::format("{}: differs from the file of rank 0: its {} differs", there.file.string(), what),
              "copy the folder to all hosts again");
}

Stored folder_structure(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  const std::map<std::string, std::vector<std::filesystem::path>> shards = shards_in(folder);
  Stored stored;
  for (const std::string& name : names) {
    const auto found = shards.find(name);
    if (found == shards.end()) {
      std::vector<std::string> splits;
      for (const auto& entry : shards) splits.push_back(entry.first);
      throw no_split(folder, name, splits);
    }
    stored.splits.push_back(describe_shards(found->second, name, stored));
  }
  return stored;
}

}  // namespace

const StoredPiece& piece_of(const StoredArray& array, std::int64_t row) {
  const auto after = std::upper_bound(array.begin(), array.end(), row,
                                      [](std::int64_t r, const StoredPiece& p) { return r < p.first; });
  ensure(after != array.begin() && row < std::prev(after)->first + std::prev(after)->count,
         "a row within the array");
  return *std::prev(after);
}

Stored read_structure(const std::filesystem::path& path, const std::vector<std::string>& names) {
  ensure(!names.empty(), "at least one split is named");
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? folder_structure(path, names)
                                                    : file_structure(path, names);
}

Stored read_structure(const std::filesystem::path& path, const std::vector<std::string>& names,
                      const Storage& storage) {
  const std::string bytes = storage.at_first([&] {
    std::error_code error;
    return std::filesystem::is_directory(path, error) ? to_bytes(read_structure(path, names)) : std::string();
  });
  if (bytes.empty()) return read_structure(path, names);
  Stored stored = stored_from_bytes(bytes, path);
  expect_here(stored, static_cast<std::size_t>(storage.part));
  return stored;
}

}  // namespace convoke::data
