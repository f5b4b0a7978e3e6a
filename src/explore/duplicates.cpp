#include "convoke/explore/duplicates.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>

namespace convoke::explore {
namespace {

struct Entry {
  std::uint32_t checksum;
  Place place;
  auto operator<=>(const Entry&) const = default;
};

/// Equal samples, in the order of the dataset.
using Group = std::vector<Place>;

template <class T>
void read_bytes(const data::DatasetReader& reader, Place place, std::vector<std::byte>& bytes) {
  std::vector<T> values(reader.sample_size());
  reader.read(place.split, place.index, std::span(values));
  const auto read = std::as_bytes(std::span(values));
  bytes.assign(read.begin(), read.end());
}

std::vector<std::byte> bytes_at(const data::DatasetReader& reader, Place place) {
  std::vector<std::byte> bytes;
  switch (reader.info().sample_type) {
    case data::SampleType::kUint8:
      read_bytes<std::uint8_t>(reader, place, bytes);
      break;
    case data::SampleType::kInt32:
      read_bytes<std::int32_t>(reader, place, bytes);
      break;
    default:
      read_bytes<float>(reader, place, bytes);
  }
  return bytes;
}

// Splits samples with one checksum, which are usually all equal, into groups of equal samples.
std::vector<Group> equal_groups(const data::DatasetReader& reader, std::span<const Entry> entries) {
  std::vector<std::vector<std::byte>> contents;
  std::vector<Group> groups;
  for (const Entry& entry : entries) {
    std::vector<std::byte> bytes = bytes_at(reader, entry.place);
    const auto same = std::find(contents.begin(), contents.end(), bytes);
    if (same == contents.end()) {
      contents.push_back(std::move(bytes));
      groups.push_back({entry.place});
    } else {
      groups[static_cast<std::size_t>(same - contents.begin())].push_back(entry.place);
    }
  }
  return groups;
}

void count(const data::DatasetReader& reader, const Group& group, Duplicates& result) {
  const auto label_of = [&](Place place) {
    return reader.splits()[place.split].labels[static_cast<std::size_t>(place.index)];
  };
  std::vector<bool> seen(reader.splits().size(), false);  // splits of the group so far
  seen[group.front().split] = true;
  for (std::size_t i = 1; i < group.size(); ++i) {
    const Place place = group[i];
    ++result.repeated;
    result.contradictory += label_of(place) != label_of(group.front()) ? 1 : 0;
    for (std::size_t a = 0; a < seen.size(); ++a) result.between[a][place.split] += seen[a] ? 1 : 0;
    seen[place.split] = true;
    result.examples.push_back({group.front(), place});
  }
}

}  // namespace

bool Duplicates::leak() const {
  for (std::size_t b = 0; b < between.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (between[a][b] > 0) return true;
    }
  }
  return false;
}

Duplicates find_duplicates(const data::DatasetReader& reader,
                           const std::vector<std::vector<std::uint32_t>>& checksums,
                           std::size_t most_examples) {
  std::vector<Entry> entries;
  for (std::size_t split = 0; split < checksums.size(); ++split) {
    for (std::size_t i = 0; i < checksums[split].size(); ++i) {
      entries.push_back({checksums[split][i], {split, static_cast<std::int64_t>(i)}});
    }
  }
  std::sort(entries.begin(), entries.end());

  Duplicates result;
  result.between.assign(checksums.size(), std::vector<std::int64_t>(checksums.size(), 0));
  for (auto first = entries.begin(); first != entries.end();) {
    const auto last = std::find_if(first, entries.end(),
                                   [&](const Entry& entry) { return entry.checksum != first->checksum; });
    if (last - first > 1) {
      for (const Group& group : equal_groups(reader, std::span(first, last))) count(reader, group, result);
    }
    first = last;
  }
  const auto rank = [&](const Duplicates::Pair& pair) {
    const auto label = [&](Place p) {
      return reader.splits()[p.split].labels[static_cast<std::size_t>(p.index)];
    };
    if (label(pair.first) != label(pair.second)) return 0;
    return pair.first.split != pair.second.split ? 1 : 2;
  };
  std::sort(result.examples.begin(), result.examples.end(), [&](const auto& a, const auto& b) {
    return std::tuple(rank(a), a.first, a.second) < std::tuple(rank(b), b.first, b.second);
  });
  result.examples.resize(std::min(result.examples.size(), most_examples));
  return result;
}

}  // namespace convoke::explore
