#include "convoke/explore/duplicates.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>

namespace convoke::explore {
namespace {

struct Entry {
  std::uint32_t checksum;
  SampleIndex at;
  auto operator<=>(const Entry&) const = default;
};

/// Equal samples, in the order of the dataset.
using Group = std::vector<SampleIndex>;

std::vector<std::byte> bytes_at(const data::DatasetReader& reader, SampleIndex at) {
  std::vector<std::byte> bytes;
  with_values(reader, at, [&](const auto& values) {
    const auto read = std::as_bytes(std::span(values));
    bytes.assign(read.begin(), read.end());
  });
  return bytes;
}

// Splits samples with one checksum, which are usually all equal, into groups of equal samples.
std::vector<Group> equal_groups(const data::DatasetReader& reader, std::span<const Entry> entries) {
  std::vector<std::vector<std::byte>> contents;
  std::vector<Group> groups;
  for (const Entry& entry : entries) {
    std::vector<std::byte> bytes = bytes_at(reader, entry.at);
    const auto same = std::find(contents.begin(), contents.end(), bytes);
    if (same == contents.end()) {
      contents.push_back(std::move(bytes));
      groups.push_back({entry.at});
    } else {
      groups[static_cast<std::size_t>(same - contents.begin())].push_back(entry.at);
    }
  }
  return groups;
}

std::int32_t label_of(const data::DatasetReader& reader, SampleIndex at) {
  return reader.splits()[at.split].labels[static_cast<std::size_t>(at.index)];
}

void count(const data::DatasetReader& reader, const Group& group, Duplicates& result) {
  std::vector<bool> seen(reader.splits().size(), false);  // splits of the group so far
  seen[group.front().split] = true;
  for (std::size_t i = 1; i < group.size(); ++i) {
    const SampleIndex at = group[i];
    ++result.repeated;
    result.contradictory += label_of(reader, at) != label_of(reader, group.front()) ? 1 : 0;
    for (std::size_t a = 0; a < seen.size(); ++a) result.between[a][at.split] += seen[a] ? 1 : 0;
    seen[at.split] = true;
    result.examples.push_back({group.front(), at});
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
  std::ranges::sort(entries);

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
    if (label_of(reader, pair.first) != label_of(reader, pair.second)) return 0;
    return pair.first.split != pair.second.split ? 1 : 2;
  };
  std::ranges::sort(result.examples, [&](const auto& a, const auto& b) {
    return std::tuple(rank(a), a.first, a.second) < std::tuple(rank(b), b.first, b.second);
  });
  result.examples.resize(std::min(result.examples.size(), most_examples));
  return result;
}

}  // namespace convoke::explore
