#include "convoke/data/dataset_reader.hpp"

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/hdf5/file.hpp"
#include "sample_check.hpp"
#include "sample_reader.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {
namespace {

bool holds_samples(const hdf5::Group& group) {
  return group.contains(format::kSamples) || group.contains(format::kEncoded);
}

// Returns the groups that hold samples, or the splits that have shards; "train" first. If there is none:
// "train", and read_structure reports that it is missing.
std::vector<std::string> split_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  if (std::filesystem::is_directory(path)) {
    for (const auto& [name, files] : shards_in(path)) names.push_back(name);
  } else {
    const hdf5::File file = hdf5::File::open(path);
    for (const std::string& name : file.children()) {
      if (file.has_group(name) && holds_samples(file.group(name))) names.push_back(name);
    }
  }
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == "train"; });
  if (names.empty()) names = {"train"};
  return names;
}

}  // namespace

struct DatasetReader::Open {
  std::filesystem::path path;
  Stored stored;
  std::vector<std::unique_ptr<SampleReader>> samples = {};  // by split
  std::vector<Part> parts = {};
};

DatasetReader::DatasetReader(const std::filesystem::path& path)
    : open_(std::make_unique<Open>(Open{path, read_structure(path, split_names(path))})) {
  for (const StoredSplit& split : open_->stored.splits) {
    Part part{split.name, std::vector<std::int32_t>(static_cast<std::size_t>(split.count))};
    const ArrayReader labels(split.labels, SampleType::kInt32, sizeof(std::int32_t));
    labels.read(0, std::as_writable_bytes(std::span(part.labels)));
    refuse(label_fault(part.labels, open_->stored.info.classes), split.labels, 0);
    open_->parts.push_back(std::move(part));
    open_->samples.push_back(std::make_unique<SampleReader>(split));
  }
}

DatasetReader::DatasetReader(DatasetReader&&) noexcept = default;
DatasetReader::~DatasetReader() = default;

const std::filesystem::path& DatasetReader::path() const { return open_->path; }
const DatasetInfo& DatasetReader::info() const { return open_->stored.info; }
const std::vector<DatasetReader::Part>& DatasetReader::splits() const { return open_->parts; }

std::size_t DatasetReader::sample_size() const {
  return static_cast<std::size_t>(open_->stored.info.sample_shape.elements());
}

template <class T>
void DatasetReader::read(std::size_t split, std::int64_t first, std::span<T> values) const {
  const SampleReader& samples = *open_->samples[split];
  ensure(values.size_bytes() % samples.sample_bytes() == 0, "whole samples are read");
  samples.read(first, std::as_writable_bytes(values));
  const DatasetInfo& info = open_->stored.info;
  const Samples read = std::span<const T>(values);
  refuse(sample_fault(read, stored_shape(info.sample_shape), info.vocabulary),
         open_->stored.splits[split].samples, first);
}

template void DatasetReader::read(std::size_t, std::int64_t, std::span<std::uint8_t>) const;
template void DatasetReader::read(std::size_t, std::int64_t, std::span<std::int32_t>) const;
template void DatasetReader::read(std::size_t, std::int64_t, std::span<float>) const;

}  // namespace convoke::data
