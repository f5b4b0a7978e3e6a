#include "convoke/data/dataset_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/data/dataset_format.hpp"
#include "positioned_io.hpp"

namespace convoke::data {
namespace {

std::string reason() { return std::generic_category().message(errno); }

/// Sums over one channel, exact: 64 bits hold 2^48 squares of 255.
struct ChannelSums {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
};

// sum += x, squares += x^2 over every `stride`-th of n values.
CONVOKE_MULTIVERSION
void add_sums(const std::uint8_t* values, std::size_t n, std::size_t stride, ChannelSums* sums) {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t x = values[i * stride];
    sum += x;
    squares += x * x;
  }
  sums->sum += sum;
  sums->squares += squares;
}

void check_sizes(const std::filesystem::path& file, const DatasetInfo& info,
                 const std::vector<SplitSize>& splits) {
  const auto refuse = [&](const std::string& why) { throw Error(fmt::format("{}: {}", file.string(), why)); };
  assert(info.sample_shape.rank() == 3 && !splits.empty());
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
  const Shape& shape = writer.info_.sample_shape;
  for (const SplitSize& split : splits) {
    hdf5::Group group = structure.create_group(split.name);
    const auto reserve = [&](const char* name, hdf5::ElementType type, const Shape& extents) {
      return structure.reserve(group.path() + "/" + name, type, extents).raw_offset().value();
    };
    const std::uint64_t samples = reserve(format::kSamples, hdf5::ElementType::kUint8,
                                          Shape{split.samples, shape[1], shape[2], shape[0]});
    const std::uint64_t labels = reserve(format::kLabels, hdf5::ElementType::kInt32, Shape{split.samples});
    writer.places_.push_back({split.name, split.samples, samples, labels});
  }
  writer.open_descriptor();
  return writer;
}

DatasetWriter DatasetWriter::join(const std::filesystem::path& file, DatasetInfo info,
                                  std::vector<SplitSize> splits, std::span<const std::uint64_t> places) {
  assert(places.size() == 2 * splits.size());
  DatasetWriter writer(file, std::move(info));
  for (std::size_t i = 0; i < splits.size(); ++i) {
    writer.places_.push_back({splits[i].name, splits[i].samples, places[2 * i], places[2 * i + 1]});
  }
  writer.open_descriptor();
  return writer;
}

std::vector<std::uint64_t> DatasetWriter::places() const {
  std::vector<std::uint64_t> offsets;
  for (const Place& split : places_) offsets.insert(offsets.end(), {split.samples, split.labels});
  return offsets;
}

const DatasetWriter::Place& DatasetWriter::place(const std::string& split) const {
  const auto it =
      std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.name == split; });
  assert(it != places_.end());
  return *it;
}

void DatasetWriter::write(const std::string& split, std::int64_t first, std::span<const std::uint8_t> samples,
                          std::span<const std::int32_t> labels) {
  const Place& to = place(split);
  const auto sample_bytes = static_cast<std::size_t>(info_.sample_shape.elements());
  assert(samples.size() == labels.size() * sample_bytes);
  assert(first >= 0 && first + static_cast<std::int64_t>(labels.size()) <= to.count);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= info_.classes) {
      throw Error(fmt::format("{}: sample {} of split \"{}\" has label {}, outside 0..{}", file_.string(),
                              first + static_cast<std::int64_t>(i), split, labels[i], info_.classes - 1));
    }
  }
  const auto start = static_cast<std::uint64_t>(first);
  write_at(descriptor_, to.samples + start * sample_bytes, std::as_bytes(samples), temporary_);
  write_at(descriptor_, to.labels + start * sizeof(std::int32_t), std::as_bytes(labels), temporary_);
}

void DatasetWriter::flush() {
  if (::fsync(descriptor_) != 0)
    throw Error(fmt::format("{}: cannot be written: {}", file_.string(), reason()));
}

// mean_c = sum x / n; std_c = sqrt(sum x^2 / n - mean_c^2), over all pixels of channel c in the training
// split. The hash is the CRC-32 of the samples, then the labels of every split in turn, as the bytes lie in
// the file.
void DatasetWriter::measure() {
  const auto channels = static_cast<std::size_t>(info_.sample_shape[0]);
  const auto training =
      std::find_if(places_.begin(), places_.end(), [](const Place& p) { return p.name == "train"; });
  const std::string& measured = training == places_.end() ? places_.front().name : training->name;

  std::vector<ChannelSums> sums(channels);
  std::uint32_t hash = 0;
  const auto sample_bytes = static_cast<std::uint64_t>(info_.sample_shape.elements());
  const std::uint64_t block = std::max<std::uint64_t>(1, (1U << 20) / channels) * channels;
  std::vector<std::byte> buffer(block);
  double pixels = 0;
  for (const Place& split : places_) {
    const auto count = static_cast<std::uint64_t>(split.count);
    const auto scan = [&](std::uint64_t offset, std::uint64_t bytes, bool sum) {
      for (std::uint64_t done = 0; done < bytes; done += block) {
        const auto part = std::span(buffer).first(std::min(block, bytes - done));
        read_at(descriptor_, offset + done, part, temporary_);
        hash = crc32(part, hash);
        for (std::size_t c = 0; sum && c < channels; ++c) {
          add_sums(reinterpret_cast<const std::uint8_t*>(part.data()) + c, part.size() / channels, channels,
                   &sums[c]);
        }
      }
    };
    scan(split.samples, count * sample_bytes, split.name == measured);
    scan(split.labels, count * sizeof(std::int32_t), false);
    if (split.name == measured) pixels = static_cast<double>(count * sample_bytes / channels);
  }
  info_.channel_mean.clear();
  info_.channel_std.clear();
  for (const ChannelSums& channel : sums) {
    const double mean = static_cast<double>(channel.sum) / pixels;
    const double variance = static_cast<double>(channel.squares) / pixels - mean * mean;
    info_.channel_mean.push_back(mean);
    info_.channel_std.push_back(std::sqrt(std::max(0.0, variance)));
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
  structure.set_attribute(format::kChannelMean, info_.channel_mean);
  structure.set_attribute(format::kChannelStd, info_.channel_std);
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
