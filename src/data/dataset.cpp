#include "convoke/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "data/stored_dataset.hpp"
#include "sample_check.hpp"
#include "sample_reader.hpp"

namespace convoke::data {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The rows of an array that one of several parts reads.
struct Rows {
  Rows(std::int64_t all, const Storage& storage)
      : first(all * storage.part / storage.parts), count(all * (storage.part + 1) / storage.parts - first) {}
  std::int64_t first, count;
};

/// Hands out one block of memory in pieces, each of which begins on its own cache line.
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

// Reads the rows of an array into `values`; a row has one value.
template <class T, class Check>
void read_column(const StoredArray& array, SampleType type, const Rows& rows, std::span<T> values,
                 Check fault) {
  const std::span<T> mine =
      values.subspan(static_cast<std::size_t>(rows.first), static_cast<std::size_t>(rows.count));
  ArrayReader(array, type, sizeof(T)).read(rows.first, std::as_writable_bytes(mine));
  refuse(fault(std::span<const T>(mine)), array, rows.first);
}

// Reads all rows of an array; a row has `width` values.
std::vector<std::int32_t> whole_column(const StoredArray& array, std::size_t width) {
  if (array.empty()) return {};
  std::vector<std::int32_t> values(width * static_cast<std::size_t>(array.back().first + array.back().count));
  ArrayReader(array, SampleType::kInt32, width * sizeof(std::int32_t))
      .read(0, std::as_writable_bytes(std::span(values)));
  return values;
}

std::int32_t largest_token(const Samples& samples) {
  const auto* tokens = std::get_if<std::span<const std::int32_t>>(&samples);
  return tokens == nullptr || tokens->empty() ? -1 : *std::max_element(tokens->begin(), tokens->end());
}

// Reads samples block by block into `held`, or only checks them if `held` is empty. Refuses invalid values.
// Returns the largest token.
std::int32_t read_samples(const StoredSplit& split, const Rows& rows, std::span<std::byte> held,
                          std::int64_t vocabulary) {
  if (held.empty() && split.type == SampleType::kUint8) return -1;  // every byte is a valid pixel
  const std::size_t size = split.sample_bytes();
  const std::int64_t block = std::max<std::int64_t>(1, (4 << 20) / static_cast<std::int64_t>(size));
  const SampleReader reader(split);
  std::vector<std::byte> buffer;
  std::int32_t largest = -1;
  for (std::int64_t done = 0; done < rows.count; done += block) {
    const std::int64_t first = rows.first + done;
    const auto bytes = static_cast<std::size_t>(std::min(block, rows.count - done)) * size;
    if (held.empty()) buffer.resize(bytes);
    const std::span<std::byte> part =
        held.empty() ? std::span(buffer) : held.subspan(static_cast<std::size_t>(first) * size, bytes);
    reader.read(first, part);
    const Samples samples = samples_in(split.type, part);
    refuse(sample_fault(samples, split.shape, vocabulary), split.samples, first);
    largest = std::max(largest, largest_token(samples));
  }
  return largest;
}

std::size_t bytes_of_samples(const StoredSplit& split) {
  return static_cast<std::size_t>(split.count) * split.sample_bytes();
}

// Chooses the splits to hold in memory: in order, as long as the budget lasts.
std::vector<bool> choose_held(std::size_t budget, const std::vector<StoredSplit>& splits) {
  std::vector<bool> held;
  std::size_t left = budget;
  for (const StoredSplit& split : splits) {
    held.push_back(bytes_of_samples(split) <= left);
    if (held.back()) left -= bytes_of_samples(split);
  }
  return held;
}

std::size_t bytes_of_split(const StoredSplit& split, bool held, std::int64_t parts) {
  const auto count = static_cast<std::size_t>(split.count);
  return (held ? aligned(bytes_of_samples(split)) : 0) + aligned(count * sizeof(std::int32_t)) +
         (split.weights.empty() ? 0 : aligned(count * sizeof(float))) +
         (split.groups.empty() ? 0 : aligned(count * sizeof(std::int32_t))) +
         aligned(static_cast<std::size_t>(parts) * sizeof(std::int32_t));
}

}  // namespace

Storage private_storage(std::size_t budget) {
  const auto free_aligned = [](std::byte* p) { ::operator delete[](p, std::align_val_t{kAlignment}); };
  auto memory = std::make_shared<std::unique_ptr<std::byte[], decltype(free_aligned)>>();
  Storage storage;
  storage.allocate = [memory](std::size_t bytes) {
    memory->reset(new (std::align_val_t{kAlignment}) std::byte[bytes]);  // not zeroed: reading fills it
    return std::span(memory->get(), bytes);
  };
  storage.budget = budget;
  return storage;
}

DatasetInfo inspect(const std::filesystem::path& path, const std::vector<std::string>& splits) {
  return read_structure(path, splits).info;
}

std::vector<std::int32_t> original_sizes(const std::filesystem::path& path, const std::string& split) {
  const StoredArray array = read_structure(path, {split}).splits.front().original_sizes;
  std::vector<std::int32_t> sizes = whole_column(array, 2);
  refuse(size_fault(sizes), array, 0);
  return sizes;
}

std::vector<std::int32_t> stored_groups(const std::filesystem::path& path, const std::string& split) {
  const StoredArray array = read_structure(path, {split}).splits.front().groups;
  std::vector<std::int32_t> groups = whole_column(array, 1);
  refuse(group_fault(groups), array, 0);
  return groups;
}

std::string hash_of_groups(const Split& split) {
  return split.groups.empty() ? "" : fmt::format("crc32:{:08x}", crc32(std::as_bytes(split.groups)));
}

std::vector<std::int64_t> encoded_sizes(const std::filesystem::path& path, const std::string& split) {
  std::vector<std::int64_t> sizes = read_structure(path, {split}).splits.front().ends;
  std::adjacent_difference(sizes.begin(), sizes.end(), sizes.begin());
  return sizes;
}

Dataset Dataset::open(const std::filesystem::path& path, const std::vector<std::string>& splits,
                      Storage storage) {
  // 1. Find the splits.
  const Stored stored = read_structure(path, splits, storage);
  Dataset dataset;
  dataset.file_ = path;
  dataset.info_ = stored.info;

  // 2. Get memory for the samples that are held, the labels, the weights, and the largest token of each part.
  const std::vector<bool> held = choose_held(storage.budget, stored.splits);
  std::size_t bytes = 0, held_bytes = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    bytes += bytes_of_split(stored.splits[i], held[i], storage.parts);
    if (held[i]) held_bytes += bytes_of_samples(stored.splits[i]);
  }
  const std::span<std::byte> block = storage.allocate(bytes);
  ensure(block.size() >= bytes, "the storage is as large as requested");
  Pieces pieces(block);

  // 3. Read the samples: each part reads and checks its own.
  std::vector<std::span<std::int32_t>> largest;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const StoredSplit& split = stored.splits[i];
    const Rows mine(split.count, storage);
    const std::span<std::byte> samples =
        held[i] ? pieces.take<std::byte>(static_cast<std::int64_t>(bytes_of_samples(split)))
                : std::span<std::byte>();
    const std::span<std::int32_t> labels = pieces.take<std::int32_t>(split.count);
    const std::span<float> weights = pieces.take<float>(split.weights.empty() ? 0 : split.count);
    const std::span<std::int32_t> groups = pieces.take<std::int32_t>(split.groups.empty() ? 0 : split.count);
    largest.push_back(pieces.take<std::int32_t>(storage.parts));
    read_column(split.labels, SampleType::kInt32, mine, labels,
                [&](auto values) { return label_fault(values, stored.info.classes); });
    if (!weights.empty()) read_column(split.weights, SampleType::kFloat32, mine, weights, weight_fault);
    if (!groups.empty()) read_column(split.groups, SampleType::kInt32, mine, groups, group_fault);
    largest.back()[static_cast<std::size_t>(storage.part)] =
        read_samples(split, mine, samples, stored.info.vocabulary);

    Split view{samples_in(split.type, samples), labels, weights, groups};
    if (!held[i]) {
      view.stream = std::make_shared<SampleStream>(
          std::make_unique<SampleReader>(split),
          (storage.budget - held_bytes) / static_cast<std::size_t>(storage.parts));
    }
    dataset.splits_.emplace_back(split.name, std::move(view));
  }
  storage.ready();
  for (std::size_t i = 0; i < largest.size(); ++i) {
    dataset.splits_[i].second.largest_token = *std::max_element(largest[i].begin(), largest[i].end());
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

StoredLayout stored_layout(const std::filesystem::path& dataset, const std::string& split) {
  const Stored stored = read_structure(dataset, {split});
  const StoredSplit& found = stored.splits.front();
  StoredLayout layout;
  layout.samples = found.count;
  layout.sample_bytes = found.sample_bytes();
  layout.bytes = layout.sample_bytes * static_cast<std::uint64_t>(found.count);
  layout.files = found.samples.size();
  const StoredArray& pieces = found.is_encoded() ? found.encoded : found.samples;
  layout.contiguous =
      std::ranges::all_of(pieces, [](const StoredPiece& piece) { return piece.offset.has_value(); });
  if (found.is_encoded()) layout.encoded_bytes = static_cast<std::uint64_t>(found.ends.back());
  if (!found.samples.empty()) layout.first = found.samples.front().file;
  return layout;
}

bool is_synthetic(const std::string& provenance) { return provenance.starts_with("synthetic"); }

std::string provenance_note(const std::string& provenance) {
  if (!is_synthetic(provenance)) return {};
  return fmt::format(
      "These samples are {}.\nThe results hold only for them, not for the real data that they imitate.\n",
      provenance.substr(0, provenance.find("; ")));
}

}  // namespace convoke::data
