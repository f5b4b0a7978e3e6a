#include "convoke/data/dataset_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <limits>
#include <system_error>

#include "channel_statistics.hpp"
#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/data/dataset_format.hpp"
#include "convoke/data/positioned_io.hpp"
#include "sample_check.hpp"

namespace convoke::data {
namespace {

std::string reason() { return std::generic_category().message(errno); }

hdf5::ElementType element_type_of(SampleType type) {
  if (type == SampleType::kUint8) return hdf5::ElementType::kUint8;
  return type == SampleType::kInt32 ? hdf5::ElementType::kInt32 : hdf5::ElementType::kFloat32;
}

void check_sizes(const std::filesystem::path& file, const DatasetInfo& info,
                 const std::vector<SplitSize>& splits) {
  const auto refuse = [&](const std::string& why) { throw Error(fmt::format("{}: {}", file.string(), why)); };
  assert(may_have_rank(info.sample_type, info.sample_shape.rank()) && !splits.empty());
  if (info.sample_shape.elements() <= 0) {
    refuse(fmt::format("samples of shape {} are empty", info.sample_shape.to_string()));
  }
  if (info.classes < 2) refuse(fmt::format("a dataset needs at least 2 classes, not {}", info.classes));
  if (!info.class_names.empty() && static_cast<std::int64_t>(info.class_names.size()) != info.classes) {
    refuse(fmt::format("{} class names for {} classes", info.class_names.size(), info.classes));
  }
  for (const SplitSize& split : splits) {
    if (split.samples <= 0) refuse(fmt::format("split \"{}\" has no samples", split.name));
    if (split.samples > std::numeric_limits<std::uint32_t>::max()) {
      refuse(fmt::format("split \"{}\" has {} samples; samples are numbered with 32 bits", split.name,
                         split.samples));
    }
  }
}

}  // namespace

DatasetWriter::DatasetWriter(const std::filesystem::path& file, DatasetInfo info)
    : file_(file), temporary_(file.string() + ".part"), info_(std::move(info)) {}

DatasetWriter::DatasetWriter(DatasetWriter&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::move(other.temporary_)),
      info_(std::move(other.info_)),
      places_(std::move(other.places_)),
      structure_(std::move(other.structure_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  other.structure_.reset();
}

DatasetWriter::~DatasetWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DatasetWriter::open_descriptor() {
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) throw Error(fmt::format("{}: cannot be opened: {}", temporary_.string(), reason()));
}

DatasetWriter DatasetWriter::create(const std::filesystem::path& file, DatasetInfo info,
                                    std::vector<SplitSize> splits, bool overwrite) {
  check_sizes(file, info, splits);
  if (!overwrite && std::filesystem::exists(file)) {
    throw Error(fmt::format("{}: exists already", file.string()), "choose another name, or say --overwrite");
  }
  DatasetWriter writer(file, std::move(info));
  hdf5::File& structure = writer.structure_.emplace(hdf5::File::create(writer.temporary_));
  const hdf5::ElementType type = element_type_of(writer.info_.sample_type);
  std::vector<std::int64_t> extents = stored_shape(writer.info_.sample_shape).extents();
  extents.insert(extents.begin(), 0);
  for (const SplitSize& split : splits) {
    extents[0] = split.samples;
    hdf5::Group group = structure.create_group(split.name);
    const auto reserve = [&](const char* name, hdf5::ElementType stored, const Shape& shape) {
      return structure.reserve(group.path() + "/" + name, stored, shape).raw_offset().value();
    };
    const std::uint64_t samples = reserve(format::kSamples, type, Shape(extents));
    const std::uint64_t labels = reserve(format::kLabels, hdf5::ElementType::kInt32, Shape{split.samples});
    const std::uint64_t weights =
        split.weights ? reserve(format::kWeights, hdf5::ElementType::kFloat32, Shape{split.samples}) : 0;
    writer.places_.push_back({split.name, split.samples, samples, labels, weights});
  }
  writer.open_descriptor();
  return writer;
}

DatasetWriter DatasetWriter::join(const std::filesystem::path& file, DatasetInfo info,
                                  std::vector<SplitSize> splits, std::span<const std::uint64_t> places) {
  assert(places.size() == kPlacesPerSplit * splits.size());
  DatasetWriter writer(file, std::move(info));
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const std::uint64_t* const place = places.data() + kPlacesPerSplit * i;
    writer.places_.push_back({splits[i].name, splits[i].samples, place[0], place[1], place[2]});
  }
  writer.open_descriptor();
  return writer;
}

std::vector<std::uint64_t> DatasetWriter::places() const {
  std::vector<std::uint64_t> offsets;
  for (const Place& split : places_)
    offsets.insert(offsets.end(), {split.samples, split.labels, split.weights});
  return offsets;
}

const DatasetWriter::Place& DatasetWriter::place(const std::string& split) const {
  const auto it =
      std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.name == split; });
  assert(it != places_.end());
  return *it;
}

void DatasetWriter::write(const std::string& split, std::int64_t first, const Samples& samples,
                          std::span<const std::int32_t> labels, std::span<const float> weights) {
  const Place& to = place(split);
  const Shape stored = stored_shape(info_.sample_shape);
  assert(type_of(samples) == info_.sample_type);
  assert(values_in(samples) == labels.size() * static_cast<std::size_t>(stored.elements()));
  assert(weights.size() == (to.weights == 0 ? 0 : labels.size()));
  assert(first >= 0 && first + static_cast<std::int64_t>(labels.size()) <= to.count);
  for (const std::optional<Fault>& fault : {sample_fault(samples, stored, info_.vocabulary),
                                            label_fault(labels, info_.classes), weight_fault(weights)}) {
    if (!fault) continue;
    throw Error(fmt::format("{}: sample {} of split \"{}\" {}", file_.string(),
                            first + static_cast<std::int64_t>(fault->sample), split, fault->what));
  }
  const auto start = static_cast<std::uint64_t>(first);
  const std::span<const std::byte> bytes = bytes_of(samples);
  const std::uint64_t sample_bytes = labels.empty() ? 0 : bytes.size() / labels.size();
  write_at(descriptor_, to.samples + start * sample_bytes, bytes, temporary_);
  write_at(descriptor_, to.labels + start * sizeof(std::int32_t), std::as_bytes(labels), temporary_);
  write_at(descriptor_, to.weights + start * sizeof(float), std::as_bytes(weights), temporary_);
}

void DatasetWriter::flush() {
  if (::fsync(descriptor_) != 0)
    throw Error(fmt::format("{}: cannot be written: {}", file_.string(), reason()));
}

// The mean and deviation of each channel of the training split (the first, if none is called so). The hash is
// the CRC-32 of the samples, the labels and the weights of every split in turn, as the bytes lie in the file.
void DatasetWriter::measure() {
  const auto training =
      std::find_if(places_.begin(), places_.end(), [](const Place& p) { return p.name == "train"; });
  const std::string& measured = training == places_.end() ? places_.front().name : training->name;
  const auto channels = static_cast<std::size_t>(channel_count(info_.sample_type, info_.sample_shape));
  ChannelStatistics statistics(channels);
  const auto add = [&](std::span<const std::byte> part) {
    if (info_.sample_type == SampleType::kUint8) {
      statistics.add(std::span(reinterpret_cast<const std::uint8_t*>(part.data()), part.size()));
    } else if (info_.sample_type == SampleType::kFloat32) {
      statistics.add(std::span(reinterpret_cast<const float*>(part.data()), part.size() / sizeof(float)));
    }
  };

  // Pieces of about a MiB that hold whole pixels.
  const std::uint64_t value_bytes = size_of(info_.sample_type);
  const std::uint64_t pixel_bytes = std::max<std::size_t>(channels, 1) * value_bytes;
  const std::uint64_t block = std::max<std::uint64_t>(1, (1U << 20) / pixel_bytes) * pixel_bytes;
  std::vector<std::byte> buffer(block);
  std::uint32_t hash = 0;
  const auto scan = [&](std::uint64_t offset, std::uint64_t bytes, bool sum) {
    for (std::uint64_t done = 0; done < bytes; done += block) {
      const auto part = std::span(buffer).first(std::min(block, bytes - done));
      read_at(descriptor_, offset + done, part, temporary_);
      hash = crc32(part, hash);
      if (sum) add(part);
    }
  };
  const std::uint64_t sample_bytes = static_cast<std::uint64_t>(info_.sample_shape.elements()) * value_bytes;
  for (const Place& split : places_) {
    const auto count = static_cast<std::uint64_t>(split.count);
    scan(split.samples, count * sample_bytes, split.name == measured);
    scan(split.labels, count * sizeof(std::int32_t), false);
    if (split.weights != 0) scan(split.weights, count * sizeof(float), false);
  }
  info_.channel_mean = info_.channel_std = {};
  if (channels > 0) {
    info_.channel_mean = statistics.mean();
    info_.channel_std = statistics.deviation();
  }
  info_.content_hash = fmt::format("crc32:{:08x}", hash);
}

DatasetInfo DatasetWriter::finish() {
  assert(structure_.has_value());
  measure();
  hdf5::File& structure = *structure_;
  structure.set_attribute(format::kFormat, format::kDataset);
  structure.set_attribute(format::kFormatVersion, format::kVersion);
  structure.set_attribute(format::kClasses, info_.classes);
  structure.set_attribute(format::kClassNames, info_.class_names);
  if (!info_.channel_mean.empty()) {
    structure.set_attribute(format::kChannelMean, info_.channel_mean);
    structure.set_attribute(format::kChannelStd, info_.channel_std);
  }
  if (info_.vocabulary > 0) structure.set_attribute(format::kVocabulary, info_.vocabulary);
  structure.set_attribute(format::kProvenance, info_.provenance);
  structure.set_attribute(format::kContentHash, info_.content_hash);
  structure.close();
  structure_.reset();

  std::error_code error;
  std::filesystem::rename(temporary_, file_, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw Error(
        fmt::format("{}: cannot be renamed to {}: {}", temporary_.string(), file_.string(), error.message()));
  }
  // The new name, too, should survive a crash; some file systems cannot sync a folder, and need not.
  const std::filesystem::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
  if (const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
  return info_;
}

}  // namespace convoke::data
