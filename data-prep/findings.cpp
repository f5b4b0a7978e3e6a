#include "findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

bool leaks_between(const Pair& pair, const SplitAssignment& splits) {
  return splits.of_item[pair.first] != splits.of_item[pair.second];
}

std::string split_of(std::size_t item, const SplitAssignment& splits) {
  const std::int32_t split = splits.of_item[item];
  return split == SplitAssignment::kNone ? "" : splits.names[static_cast<std::size_t>(split)];
}

}  // namespace

std::int64_t leaks(const std::vector<Pair>& pairs, const SplitAssignment& splits) {
  return std::count_if(pairs.begin(), pairs.end(),
                       [&](const Pair& pair) { return leaks_between(pair, splits); });
}

std::vector<std::size_t> usable_items(const Catalog& catalog) {
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    if (catalog.items[i].fault.empty()) items.push_back(i);
  }
  return items;
}

std::map<std::size_t, Error> listed_faults(const Catalog& catalog) {
  std::map<std::size_t, Error> faults;
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    if (!catalog.items[i].fault.empty()) faults.emplace(i, Error(catalog.items[i].fault));
  }
  return faults;
}

std::vector<std::string> absent_classes(const Catalog& catalog, const std::vector<std::size_t>& items,
                                        const std::vector<std::string>& class_names) {
  std::vector<bool> there(static_cast<std::size_t>(catalog.classes));
  for (const std::size_t item : items) there[static_cast<std::size_t>(catalog.items[item].label)] = true;
  std::vector<std::string> absent;
  for (std::size_t c = 0; c < there.size(); ++c) {
    if (!there[c]) absent.push_back(class_names.empty() ? std::to_string(c) : class_names[c]);
  }
  return absent;
}

std::string unreadable_text(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                            const std::string& source) {
  constexpr std::size_t kShown = 20;
  std::string text = fmt::format("{}: {} of {} samples cannot be read:", source,
                                 format_count(std::ssize(faults)), format_count(std::ssize(catalog.items)));
  auto fault = faults.begin();
  for (std::size_t shown = 0; fault != faults.end() && shown < kShown; ++shown, ++fault)
    text += "\n  " + with_name(catalog.items[fault->first].name, fault->second.what());
  if (fault != faults.end())
    text += fmt::format("\n  and {} more", format_count(std::distance(fault, faults.end())));
  return text;
}

void expect_readable(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                     const std::string& source, const std::filesystem::path& list) {
  if (faults.empty()) return;
  std::string hint = faults.begin()->second.hint();
  hint += hint.empty() ? "fix or remove them, or leave" : "; or leave";
  hint += " them out with --skip-bad";
  if (std::filesystem::exists(list)) hint += fmt::format("; {} lists them all", list.string());
  throw Error(unreadable_text(faults, catalog, source), hint);
}

void expect_samples_left(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                         const SplitAssignment& splits, const std::string& source) {
  for (std::size_t s = 0; s < splits.names.size(); ++s) {
    const std::vector<std::size_t> items = splits.items(s);
    if (std::any_of(items.begin(), items.end(), [&](std::size_t item) { return faults.count(item) == 0; }))
      continue;
    throw Error(fmt::format("split \"{}\" would have no sample that can be read; {}", splits.names[s],
                            unreadable_text(faults, catalog, source)),
                faults.empty() ? "" : faults.begin()->second.hint());
  }
}

void write_findings(const std::filesystem::path& file, const Findings& findings, const Catalog& catalog,
                    const SplitAssignment& splits) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << "finding,sample,split,class,other_sample,other_split,other_class,reason\n";
  const auto columns_of = [&](std::size_t item) {
    return fmt::format("{},{},{}", csv_cell(catalog.items[item].name), csv_cell(split_of(item, splits)),
                       csv_cell(catalog.class_name(catalog.items[item].label)));
  };
  for (const auto& [item, reason] : findings.faults)
    out << fmt::format("unreadable,{},,,,{}\n", columns_of(item), csv_cell(reason.what()));
  for (const Pair& pair : findings.duplicates)
    out << fmt::format("duplicate,{},{},equal values\n", columns_of(pair.first), columns_of(pair.second));
  for (const Pair& pair : findings.near_duplicates)
    out << fmt::format("near-duplicate,{},{},look the same\n", columns_of(pair.first),
                       columns_of(pair.second));
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written", file.string()));
}

void expect_no_leak(const Findings& findings, const Catalog& catalog, const SplitAssignment& splits,
                    const std::filesystem::path& list) {
  const auto leak = std::find_if(findings.duplicates.begin(), findings.duplicates.end(),
                                 [&](const Pair& pair) { return leaks_between(pair, splits); });
  if (leak == findings.duplicates.end()) return;
  throw Error(
      fmt::format("{} samples are in two splits, so the test results would be invalid: {} of \"{}\" equals "
                  "{} of \"{}\"",
                  format_count(leaks(findings.duplicates, splits)), catalog.items[leak->first].name,
                  split_of(leak->first, splits), catalog.items[leak->second].name,
                  split_of(leak->second, splits)),
      fmt::format("{} lists them all; remove them from one split, draw other splits (--split "
                  "train=0.8,test=0.2), or add --allow-duplicates",
                  list.string()));
}

namespace {

constexpr std::int64_t kLeastSide = 32;  // pixels
constexpr int kAtMostBits = 8;           // of 256
constexpr double kAtMostDifference = 6;  // of 255
constexpr int kLeastInformation = 24;    // set bits, and clear bits, that a meaningful hash needs
constexpr std::size_t kBands = 16;       // of 16 bits: if 8 bits differ, at least 8 bands are equal
constexpr std::size_t kNeighbors = 64;   // number of hashes that each is compared with in a crowded band

std::vector<std::byte> sample_of(std::size_t item, const std::vector<Record>& records, const Spool& spool,
                                 std::size_t bytes) {
  std::vector<std::byte> sample(bytes);
  spool.get(item, records[item], sample);
  return sample;
}

bool is_informative(const PerceptualHash& hash) {
  const int set = distance(hash, PerceptualHash{});
  return set >= kLeastInformation && 256 - set >= kLeastInformation;
}

std::uint16_t band_of(const PerceptualHash& hash, std::size_t band) {
  return static_cast<std::uint16_t>(hash[band / 4] >> (16 * (band % 4)));
}

/// Shrinks pictures for comparison and keeps the results.
class Thumbnails {
 public:
  Thumbnails(const std::vector<Record>& records, const Spool& spool, std::int64_t height, std::int64_t width,
             std::int64_t channels)
      : records_(records), spool_(spool), height_(height), width_(width), channels_(channels) {}

  double difference(std::size_t a, std::size_t b) {
    const std::vector<double>& one = of(a);
    const std::vector<double>& other = of(b);
    double sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i) sum += std::abs(one[i] - other[i]);
    return sum / static_cast<double>(one.size());
  }

 private:
  static constexpr std::int64_t kSide = 16;

  // Returns the means over 16 x 16 cells of every channel.
  const std::vector<double>& of(std::size_t item) {
    std::vector<double>& means = made_[item];
    if (!means.empty()) return means;
    const auto bytes = static_cast<std::size_t>(height_ * width_ * channels_);
    const std::vector<std::byte> picture = sample_of(item, records_, spool_, bytes);
    means.assign(static_cast<std::size_t>(kSide * kSide * channels_), 0.0);
    std::vector<double> count(means.size());
    for (std::int64_t y = 0; y < height_; ++y) {
      for (std::int64_t x = 0; x < width_; ++x) {
        for (std::int64_t c = 0; c < channels_; ++c) {
          const auto cell =
              static_cast<std::size_t>((y * kSide / height_ * kSide + x * kSide / width_) * channels_ + c);
          means[cell] +=
              std::to_integer<int>(picture[static_cast<std::size_t>((y * width_ + x) * channels_ + c)]);
          ++count[cell];
        }
      }
    }
    for (std::size_t i = 0; i < means.size(); ++i) means[i] /= count[i];
    return means;
  }

  const std::vector<Record>& records_;
  const Spool& spool_;
  std::int64_t height_, width_, channels_;
  std::map<std::size_t, std::vector<double>> made_;
};

// Finds pairs of near hashes. Two near hashes have several equal bands, so each band is sorted and only equal
// bands are compared.
std::set<Pair> near_hashes(const std::vector<Record>& records, const std::vector<std::size_t>& items) {
  std::set<Pair> pairs;
  std::vector<std::size_t> order = items;
  for (std::size_t band = 0; band < kBands; ++band) {
    const auto key = [&](std::size_t i) {
      return std::pair(band_of(records[i].hash, band), records[i].hash);
    };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint16_t value = band_of(records[order[i]].hash, band);
      for (std::size_t j = i + 1; j < std::min(order.size(), i + 1 + kNeighbors); ++j) {
        if (band_of(records[order[j]].hash, band) != value) break;
        if (distance(records[order[i]].hash, records[order[j]].hash) <= kAtMostBits)
          pairs.insert(std::minmax(order[i], order[j]));
      }
    }
  }
  return pairs;
}

}  // namespace

std::vector<Pair> find_duplicates(const std::vector<Record>& records, const Spool& spool,
                                  std::size_t sample_bytes) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].state == Record::kDone) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return records[a].checksum < records[b].checksum; });
  std::vector<Pair> pairs;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && records[order[end]].checksum == records[order[begin]].checksum) ++end;
    if (end - begin < 2) continue;
    // Samples with equal checksums may differ, so each is compared with one sample of each kind.
    std::vector<std::pair<std::size_t, std::vector<std::byte>>> kinds;
    for (std::size_t i = begin; i < end; ++i) {
      std::vector<std::byte> sample = sample_of(order[i], records, spool, sample_bytes);
      const auto same =
          std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.second == sample; });
      if (same == kinds.end()) {
        kinds.emplace_back(order[i], std::move(sample));
      } else {
        pairs.emplace_back(same->first, order[i]);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<Pair> find_near_duplicates(const std::vector<Record>& records, const Spool& spool,
                                       std::int64_t height, std::int64_t width, std::int64_t channels) {
  if (height < kLeastSide || width < kLeastSide) return {};
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].state == Record::kDone && is_informative(records[i].hash)) items.push_back(i);
  }
  Thumbnails thumbnails(records, spool, height, width, channels);
  std::vector<Pair> pairs;
  for (const auto& [a, b] : near_hashes(records, items)) {
    if (records[a].checksum != records[b].checksum && thumbnails.difference(a, b) <= kAtMostDifference)
      pairs.emplace_back(a, b);
  }
  return pairs;
}

}  // namespace convoke::data_prep
