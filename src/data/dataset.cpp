#include "convoke/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <optional>

#include "array_reader.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "sample_check.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// All rows of an array, refused if one is wrong.
template <class T>
void read_all(const StoredArray& array, SampleType type, std::int64_t rows, std::span<T> values) {
  ArrayReader(array, type, values.size_bytes() / static_cast<std::size_t>(rows))
      .read(0, std::as_writable_bytes(values));
}

// `fault`: of row first + fault.sample of an array.
void refuse(const std::optional<Fault>& fault, const StoredArray& array) {
  if (!fault) return;
  const auto row = static_cast<std::int64_t>(fault->sample);
  const auto after =
      std::find_if(array.begin(), array.end(), [&](const StoredPiece& p) { return row < p.first + p.count; });
  throw Error(fmt::format("{}: sample {} {}", after->where(), row - after->first, fault->what));
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
         aligned(count * sizeof(std::int32_t)) +
         (!split.weights.empty() ? aligned(count * sizeof(float)) : 0) +
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
  return look_at(path, splits).info;
}

std::vector<std::int32_t> original_sizes(const std::filesystem::path& path, const std::string& split) {
  const Stored stored = look_at(path, {split});
  const StoredSplit& found = stored.splits.front();
  if (found.original_sizes.empty()) return {};
  std::vector<std::int32_t> sizes(2 * static_cast<std::size_t>(found.count));
  read_all(found.original_sizes, SampleType::kInt32, found.count, std::span(sizes));
  refuse(size_fault(sizes), found.original_sizes);
  return sizes;
}

Dataset Dataset::open(const std::filesystem::path& path, const std::vector<std::string>& splits,
                      Storage storage) {
  // 1. What there is; every rank looks, so that every rank ends with the same message.
  const Stored stored = look_at(path, splits);
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
  std::vector<std::int32_t*> largest;  // one per split; none where there are no tokens
  for (const StoredSplit& split : stored.splits) {
    const auto fill = [&]<class T>(const StoredArray& array, SampleType type, std::span<T> values) {
      if (storage.owner) read_all(array, type, split.count, values);
      return values;
    };
    const auto take_samples = [&]<class T>(T) {
      return Samples(std::span<const T>(
          fill(split.samples, split.type, pieces.take<T>(split.count * split.shape.elements()))));
    };
    Split held{};
    held.samples = split.type == SampleType::kUint8   ? take_samples(std::uint8_t{})
                   : split.type == SampleType::kInt32 ? take_samples(std::int32_t{})
                                                      : take_samples(float{});
    held.labels = fill(split.labels, SampleType::kInt32, pieces.take<std::int32_t>(split.count));
    if (!split.weights.empty())
      held.weights = fill(split.weights, SampleType::kFloat32, pieces.take<float>(split.count));
    const bool tokens = split.type == SampleType::kInt32;
    largest.push_back(tokens ? pieces.take<std::int32_t>(1).data() : nullptr);
    if (storage.owner) {
      refuse(sample_fault(held.samples, split.shape, dataset.info_.vocabulary), split.samples);
      refuse(label_fault(held.labels, dataset.info_.classes), split.labels);
      refuse(weight_fault(held.weights), split.weights);
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
