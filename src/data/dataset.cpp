#include "convoke/data/dataset.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <new>
#include <optional>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/positioned_io.hpp"
#include "sample_check.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

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

void refuse(const std::optional<Fault>& fault, const hdf5::Dataset& array) {
  if (fault) throw Error(fmt::format("{}: sample {} {}", array.where(), fault->sample, fault->what));
}

/// Hands out one block of memory piece by piece, each on a cache line of its own.
class Pieces {
 public:
  explicit Pieces(std::span<std::byte> free) : free_(free) {}

  template <class T>
  std::span<T> take(std::int64_t count) {
    const auto values = static_cast<std::size_t>(count);
    const std::span<T> piece(reinterpret_cast<T*>(free_.data()), values);
    free_ = free_.subspan(aligned(values * sizeof(T)));
    return piece;
  }

 private:
  std::span<std::byte> free_;
};

std::size_t bytes_of_split(const StoredSplit& split) {
  const auto count = static_cast<std::size_t>(split.count);
  return aligned(count * static_cast<std::size_t>(split.shape.elements()) * size_of(split.type)) +
         aligned(count * sizeof(std::int32_t)) + (split.weights ? aligned(count * sizeof(float)) : 0) +
         (split.type == SampleType::kInt32 ? aligned(sizeof(std::int32_t)) : 0);
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

DatasetInfo inspect(const std::filesystem::path& path, const std::vector<std::string>& splits) {
  return look_at(hdf5::File::open(path), splits).info;
}

Dataset Dataset::open(const std::filesystem::path& path, const std::vector<std::string>& splits,
                      Storage storage) {
  // 1. What there is; every rank looks, so that every rank ends with the same message.
  const hdf5::File file = hdf5::File::open(path);
  const Stored stored = look_at(file, splits);
  Dataset dataset;
  dataset.file_ = path;
  dataset.info_ = stored.info;

  // 2. Memory for all: samples, labels, weights of each split, and the largest token for those that do not
  // read.
  std::size_t bytes = 0;
  for (const StoredSplit& split : stored.splits) bytes += bytes_of_split(split);
  const std::span<std::byte> block = storage.allocate(bytes);
  assert(block.size() >= bytes);
  Pieces pieces(block);

  // 3. The samples themselves, read and checked by the owner.
  const Descriptor descriptor(path);
  const auto fill = [&]<class T>(const hdf5::Dataset& array, std::span<T> values) {
    if (storage.owner) read_array(array, descriptor.get(), values, path);
    return values;
  };
  std::vector<std::int32_t*> largest;  // one per split; none where there are no tokens
  for (const StoredSplit& split : stored.splits) {
    const auto take_samples = [&]<class T>(T) {
      return Samples(
          std::span<const T>(fill(split.samples, pieces.take<T>(split.count * split.shape.elements()))));
    };
    Split held{};
    held.samples = split.type == SampleType::kUint8   ? take_samples(std::uint8_t{})
                   : split.type == SampleType::kInt32 ? take_samples(std::int32_t{})
                                                      : take_samples(float{});
    held.labels = fill(split.labels, pieces.take<std::int32_t>(split.count));
    if (split.weights) held.weights = fill(*split.weights, pieces.take<float>(split.count));
    const bool tokens = split.type == SampleType::kInt32;
    largest.push_back(tokens ? pieces.take<std::int32_t>(1).data() : nullptr);
    if (storage.owner) {
      refuse(sample_fault(held.samples, split.shape, dataset.info_.vocabulary), split.samples);
      refuse(label_fault(held.labels, dataset.info_.classes), split.labels);
      if (split.weights) refuse(weight_fault(held.weights), *split.weights);
      if (tokens)
        *largest.back() =
            *std::max_element(held.values<std::int32_t>().begin(), held.values<std::int32_t>().end());
    }
    dataset.splits_.emplace_back(split.name, held);
  }
  storage.ready();
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (largest[i] != nullptr) dataset.splits_[i].second.largest_token = *largest[i];
  }
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
