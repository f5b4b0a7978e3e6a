#include "stored_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset_format.hpp"

namespace convoke::data {
namespace {

void expect(bool holds, const hdf5::Object& object, const std::string& otherwise, std::string hint = {}) {
  if (!holds) throw Error(fmt::format("{}: {}", object.where(), otherwise), std::move(hint));
}

void check_format(const hdf5::File& file) {
  if (!file.has_attribute(format::kFormat) ||
      file.attribute<std::string>(format::kFormat) != format::kDataset) {
    throw Error(fmt::format("{}: is an HDF5 file, but no Convoke dataset", file.file().string()),
                "make one with `convoke prepare SOURCE --output FILE`");
  }
  const auto version = file.attribute<std::int64_t>(format::kFormatVersion);
  if (version > format::kVersion) {
    throw Error(fmt::format("{}: has format version {}; this program knows up to {}", file.file().string(),
                            version, format::kVersion),
                "update Convoke");
  }
}

template <class T>
T attribute_or_none(const hdf5::File& file, const char* name) {
  return file.has_attribute(name) ? file.attribute<T>(name) : T{};
}

DatasetInfo read_info(const hdf5::File& file) {
  DatasetInfo info;
  info.classes = file.attribute<std::int64_t>(format::kClasses);
  expect(info.classes >= 2, file, fmt::format("has {} classes; at least 2 are needed", info.classes));
  info.class_names = attribute_or_none<std::vector<std::string>>(file, format::kClassNames);
  expect(info.class_names.empty() || static_cast<std::int64_t>(info.class_names.size()) == info.classes, file,
         fmt::format("has {} class names for {} classes", info.class_names.size(), info.classes));
  info.provenance = attribute_or_none<std::string>(file, format::kProvenance);
  info.content_hash = attribute_or_none<std::string>(file, format::kContentHash);
  return info;
}

// Both or neither, one per channel or feature.
void read_statistics(const hdf5::File& file, DatasetInfo& info) {
  info.channel_mean = attribute_or_none<std::vector<double>>(file, format::kChannelMean);
  info.channel_std = attribute_or_none<std::vector<double>>(file, format::kChannelStd);
  if (info.channel_mean.empty() && info.channel_std.empty()) return;
  const std::int64_t channels = channel_count(info.sample_type, info.sample_shape);
  for (const std::vector<double>* values : {&info.channel_mean, &info.channel_std}) {
    expect(static_cast<std::int64_t>(values->size()) == channels &&
               std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); }),
           file,
           fmt::format("needs a mean and a deviation for each of its {} {}", channels,
                       kind_of(info.sample_type, info.sample_shape) == "images" ? "channels" : "features"));
  }
}

void read_vocabulary(const hdf5::File& file, DatasetInfo& info) {
  if (!file.has_attribute(format::kVocabulary)) return;
  info.vocabulary = file.attribute<std::int64_t>(format::kVocabulary);
  expect(info.vocabulary >= 1, file,
         fmt::format("has vocabulary {}, which is the number of distinct tokens, padding included",
                     info.vocabulary));
}

std::optional<SampleType> sample_type_of(hdf5::ElementType stored) {
  if (stored == hdf5::ElementType::kUint8) return SampleType::kUint8;
  if (stored == hdf5::ElementType::kInt32) return SampleType::kInt32;
  if (stored == hdf5::ElementType::kFloat32) return SampleType::kFloat32;
  return {};
}

// An array of one value per sample.
void expect_column(const hdf5::Dataset& column, hdf5::ElementType type, std::int64_t count) {
  const Shape shape = column.shape();
  expect(column.type() == type && shape.rank() == 1 && shape[0] == count, column,
         fmt::format("holds {} of shape {}; {} samples need {} of shape ({})", hdf5::name_of(column.type()),
                     shape.to_string(), count, hdf5::name_of(type), count),
         column.type() == type ? "" : fmt::format("store it with .astype(\"{}\")", hdf5::name_of(type)));
}

StoredSplit describe(const hdf5::File& file, const std::string& name) {
  if (!file.has_group(name)) {
    throw Error(fmt::format("{}: has no split \"{}\"{}", file.file().string(), name,
                            did_you_mean(name, file.children())),
                "its splits: " + join(file.children()));
  }
  const hdf5::Group group = file.group(name);
  StoredSplit split{name, group.dataset(format::kSamples), group.dataset(format::kLabels), {}, 0, {}, {}};
  const Shape samples = split.samples.shape();
  const std::optional<SampleType> type = sample_type_of(split.samples.type());
  expect(type && samples.rank() > 1 && may_have_rank(*type, samples.rank() - 1) && samples.elements() > 0,
         split.samples,
         fmt::format("holds {} of shape {}; samples are uint8 images (N, H, W, C), int32 tokens (N, L), or "
                     "float32 features (N, F), sequences (N, L, F) or images (N, H, W, C)",
                     hdf5::name_of(split.samples.type()), samples.to_string()),
         "convert it with .reshape(...) and .astype(\"uint8\"), .astype(\"int32\") or .astype(\"float32\")");
  split.type = *type;
  split.shape = Shape(std::vector<std::int64_t>(samples.extents().begin() + 1, samples.extents().end()));
  split.count = samples[0];
  expect(
      split.count <= std::numeric_limits<std::uint32_t>::max(), split.samples,
      fmt::format("holds {} samples; they are numbered with 32 bits, so at most 4,294,967,295", split.count));
  expect_column(split.labels, hdf5::ElementType::kInt32, split.count);
  if (group.contains(format::kWeights)) {
    split.weights = group.dataset(format::kWeights);
    expect_column(*split.weights, hdf5::ElementType::kFloat32, split.count);
  }
  return split;
}

}  // namespace

Stored look_at(const hdf5::File& file, const std::vector<std::string>& names) {
  check_format(file);
  Stored stored{read_info(file), {}};
  for (const std::string& name : names) stored.splits.push_back(describe(file, name));
  assert(!stored.splits.empty());
  const StoredSplit& first = stored.splits.front();
  for (const StoredSplit& split : stored.splits) {
    expect(split.shape == first.shape && split.type == first.type, split.samples,
           fmt::format("holds {} samples of shape {}, but split \"{}\" {} of {}", name_of(split.type),
                       split.shape.to_string(), first.name, name_of(first.type), first.shape.to_string()));
  }
  stored.info.sample_type = first.type;
  stored.info.sample_shape = seen_shape(first.shape);
  if (first.type == SampleType::kInt32) {
    read_vocabulary(file, stored.info);
  } else {
    read_statistics(file, stored.info);
  }
  return stored;
}

}  // namespace convoke::data
