#include "convoke/data/dataset.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <limits>
#include <new>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset_format.hpp"
#include "convoke/hdf5/file.hpp"
#include "positioned_io.hpp"

namespace convoke::data {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The two arrays of a split, as the file describes them.
struct StoredSplit {
  std::string name;
  hdf5::Dataset samples, labels;
  std::int64_t count = 0;
};

void expect(bool holds, const hdf5::Object& object, const std::string& otherwise) {
  if (!holds) throw Error(fmt::format("{}: {}", object.where(), otherwise));
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

DatasetInfo read_info(const hdf5::File& file) {
  DatasetInfo info;
  info.classes = file.attribute<std::int64_t>(format::kClasses);
  expect(info.classes >= 2, file, fmt::format("has {} classes; at least 2 are needed", info.classes));
  if (file.has_attribute(format::kClassNames)) {
    info.class_names = file.attribute<std::vector<std::string>>(format::kClassNames);
  }
  expect(info.class_names.empty() || static_cast<std::int64_t>(info.class_names.size()) == info.classes, file,
         fmt::format("has {} class names for {} classes", info.class_names.size(), info.classes));
  info.channel_mean = file.attribute<std::vector<double>>(format::kChannelMean);
  info.channel_std = file.attribute<std::vector<double>>(format::kChannelStd);
  info.provenance = file.attribute<std::string>(format::kProvenance);
  info.content_hash = file.attribute<std::string>(format::kContentHash);
  return info;
}

StoredSplit describe(const hdf5::File& file, const std::string& name) {
  if (!file.has_group(name)) {
    throw Error(fmt::format("{}: has no split \"{}\"{}", file.file().string(), name,
                            did_you_mean(name, file.children())),
                "its splits: " + join(file.children()));
  }
  const hdf5::Group group = file.group(name);
  StoredSplit split{name, group.dataset(format::kSamples), group.dataset(format::kLabels)};
  const Shape samples = split.samples.shape();
  expect(split.samples.type() == hdf5::ElementType::kUint8 && samples.rank() == 4 && samples.elements() > 0,
         split.samples,
         fmt::format("holds {} of shape {}; images are uint8 of shape (N, H, W, C)",
                     hdf5::name_of(split.samples.type()), samples.to_string()));
  split.count = samples[0];
  const Shape labels = split.labels.shape();
  expect(split.labels.type() == hdf5::ElementType::kInt32 && labels.rank() == 1 && labels[0] == split.count,
         split.labels,
         fmt::format("holds {} of shape {}; {} samples need int32 of shape ({})",
                     hdf5::name_of(split.labels.type()), labels.to_string(), split.count, split.count));
  expect(
      split.count <= std::numeric_limits<std::uint32_t>::max(), split.samples,
      fmt::format("holds {} samples; they are numbered with 32 bits, so at most 4,294,967,295", split.count));
  return split;
}

/// A file descriptor for pread.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& file) : id_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (id_ < 0) {
      throw Error(
          fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(id_); }
  int get() const { return id_; }

 private:
  int id_;
};

// Straight from the file where its bytes lie as memory has them; else through HDF5, which unpacks and
// converts.
template <class T>
void read_array(const hdf5::Dataset& dataset, int descriptor, std::span<T> values,
                const std::filesystem::path& file) {
  if (const auto offset = dataset.raw_offset()) {
    read_at(descriptor, *offset, std::as_writable_bytes(values), file);
  } else {
    dataset.read(values);
  }
}

void check_labels(const StoredSplit& split, std::span<const std::int32_t> labels, std::int64_t classes) {
  const auto bad =
      std::find_if(labels.begin(), labels.end(), [&](std::int32_t l) { return l < 0 || l >= classes; });
  if (bad == labels.end()) return;
  throw Error(fmt::format("{}: sample {} has label {}, outside 0..{}", split.labels.where(),
                          bad - labels.begin(), *bad, classes - 1));
}

}  // namespace

Storage private_storage() {
  const auto free_aligned = [](std::byte* p) { ::operator delete[](p, std::align_val_t{kAlignment}); };
  auto memory = std::make_shared<std::unique_ptr<std::byte[], decltype(free_aligned)>>();
  Storage storage;
  storage.allocate = [memory](std::size_t bytes) {
    memory->reset(new (std::align_val_t{kAlignment}) std::byte[bytes]);  // not zeroed: it is read into
    return std::span(memory->get(), bytes);
  };
  return storage;
}

Dataset Dataset::open(const std::filesystem::path& path, const std::vector<std::string>& splits,
                      Storage storage) {
  // 1. What there is; every rank looks, so that every rank ends with the same message.
  const hdf5::File file = hdf5::File::open(path);
  check_format(file);
  Dataset dataset;
  dataset.file_ = path;
  dataset.info_ = read_info(file);
  std::vector<StoredSplit> stored;
  for (const std::string& name : splits) stored.push_back(describe(file, name));
  assert(!stored.empty());
  const Shape whole = stored.front().samples.shape();
  const Shape stored_shape{whole[1], whole[2], whole[3]};
  for (const StoredSplit& split : stored) {
    const Shape shape = split.samples.shape();
    expect(Shape{shape[1], shape[2], shape[3]} == stored_shape, split.samples,
           fmt::format("holds samples of shape {}, but split \"{}\" of {}",
                       Shape{shape[1], shape[2], shape[3]}.to_string(), stored.front().name,
                       stored_shape.to_string()));
  }
  const std::int64_t channels = stored_shape[2];
  dataset.info_.sample_shape = Shape{channels, stored_shape[0], stored_shape[1]};
  for (const std::vector<double>* values : {&dataset.info_.channel_mean, &dataset.info_.channel_std}) {
    expect(static_cast<std::int64_t>(values->size()) == channels &&
               std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); }),
           file, fmt::format("needs a mean and a deviation for each of its {} channels", channels));
  }

  // 2. Memory for all: samples, then labels of each split, each on a cache line of its own.
  std::size_t bytes = 0;
  for (const StoredSplit& split : stored) {
    bytes += aligned(static_cast<std::size_t>(split.samples.shape().elements())) +
             aligned(static_cast<std::size_t>(split.count) * sizeof(std::int32_t));
  }
  std::span<std::byte> free = storage.allocate(bytes);
  assert(free.size() >= bytes);
  const auto take = [&free](std::size_t wanted) {
    std::byte* const place = free.data();
    free = free.subspan(aligned(wanted));
    return place;
  };

  // 3. The samples themselves, read by the owner.
  const Descriptor descriptor(path);
  for (const StoredSplit& split : stored) {
    const auto sample_bytes = static_cast<std::size_t>(split.samples.shape().elements());
    const auto count = static_cast<std::size_t>(split.count);
    const std::span samples(reinterpret_cast<std::uint8_t*>(take(sample_bytes)), sample_bytes);
    const std::span labels(reinterpret_cast<std::int32_t*>(take(count * sizeof(std::int32_t))), count);
    if (storage.owner) {
      read_array(split.samples, descriptor.get(), samples, path);
      read_array(split.labels, descriptor.get(), labels, path);
      check_labels(split, labels, dataset.info_.classes);
    }
    dataset.splits_.emplace_back(split.name, Split{samples, labels});
  }
  storage.ready();
  dataset.storage_ = std::make_shared<Storage>(std::move(storage));
  return dataset;
}

const Split& Dataset::split(const std::string& name) const {
  const auto it =
      std::find_if(splits_.begin(), splits_.end(), [&](const auto& entry) { return entry.first == name; });
  if (it != splits_.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& entry : splits_) names.push_back(entry.first);
  throw Error(
      fmt::format("{}: split \"{}\" was not opened{}", file_.string(), name, did_you_mean(name, names)),
      "opened: " + join(names));
}

}  // namespace convoke::data
