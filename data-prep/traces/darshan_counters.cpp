#include "darshan_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace convoke::data_prep {
namespace {

/// A bin of Darshan's histogram of sizes: from `least` to `most` bytes.
struct SizeBin {
  const char* name;
  std::int64_t least, most;
};
constexpr std::int64_t kKi = 1024, kMi = kKi * kKi, kGi = kKi * kMi;
constexpr std::array kSizeBins{
    SizeBin{"0_100", 0, 100},
    SizeBin{"100_1K", 101, kKi},
    SizeBin{"1K_10K", kKi + 1, 10 * kKi},
    SizeBin{"10K_100K", 10 * kKi + 1, 100 * kKi},
    SizeBin{"100K_1M", 100 * kKi + 1, kMi},
    SizeBin{"1M_4M", kMi + 1, 4 * kMi},
    SizeBin{"4M_10M", 4 * kMi + 1, 10 * kMi},
    SizeBin{"10M_100M", 10 * kMi + 1, 100 * kMi},
    SizeBin{"100M_1G", 100 * kMi + 1, kGi},
    SizeBin{"1G_PLUS", kGi + 1, kGi + 1},
};

constexpr int kCommon = 4;  // most common sizes and strides of a record

}  // namespace

void DarshanCounters::add(const std::string& rank, const std::string& file, const std::string& counter,
                          std::int64_t value) {
  Record& record = records_[rank + " " + file];
  record.file = file;
  record.counters[counter] = value;
}

std::int64_t DarshanCounters::Record::get(const std::string& name) const {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : std::max<std::int64_t>(0, found->second);  // -1: unknown
}

std::optional<IoFeatures> DarshanCounters::features() const {
  IoFeatures features{.smallest = INT64_MAX};
  std::set<std::string> files;
  std::int64_t requests = 0, neighbors = 0;
  for (const auto& [key, record] : records_) {
    if (record.requests() == 0) continue;
    files.insert(record.file);
    requests += record.requests();
    neighbors += record.requests() - 1;
    features.mean += static_cast<double>(record.get("POSIX_BYTES_READ") + record.get("POSIX_BYTES_WRITTEN"));
    for (int i = 1; i <= kCommon; ++i) {
      features.distance += static_cast<double>(record.get(fmt::format("POSIX_STRIDE{}_STRIDE", i))) *
                           static_cast<double>(record.get(fmt::format("POSIX_STRIDE{}_COUNT", i)));
    }
    add_sizes(record, features);
  }
  if (requests == 0) return {};
  features.mean /= static_cast<double>(requests);
  features.distance /= static_cast<double>(std::max<std::int64_t>(1, neighbors));
  features.files = static_cast<std::int64_t>(files.size());
  return features;
}

// A bin whose requests all have one of the most common sizes is known exactly.
void DarshanCounters::add_sizes(const Record& record, IoFeatures& features) {
  for (const SizeBin& bin : kSizeBins) {
    std::int64_t unknown = record.get(fmt::format("POSIX_SIZE_READ_{}", bin.name)) +
                           record.get(fmt::format("POSIX_SIZE_WRITE_{}", bin.name));
    if (unknown == 0) continue;
    for (int i = 1; i <= kCommon; ++i) {
      const std::int64_t size = record.get(fmt::format("POSIX_ACCESS{}_ACCESS", i));
      const std::int64_t count = record.get(fmt::format("POSIX_ACCESS{}_COUNT", i));
      const bool last = &bin == &kSizeBins.back();
      if (count == 0 || size < bin.least || (!last && size > bin.most)) continue;
      unknown -= count;
      features.smallest = std::min(features.smallest, size);
      features.largest = std::max(features.largest, size);
    }
    if (unknown <= 0) continue;
    features.smallest = std::min(features.smallest, bin.least);
    features.largest = std::max(features.largest, bin.most);
  }
}

}  // namespace convoke::data_prep
