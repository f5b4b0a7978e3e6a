#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "convoke/core/checksum.hpp"
#include "convoke/data/normalization.hpp"
#include "dataset_parts.hpp"
#include "sample_reader.hpp"

namespace convoke::data {
namespace {

using Visitor = std::function<void(std::span<const std::byte>)>;

// Scans so many rows in blocks of about a MiB. Blocks do not depend on the files, because sums of floats
// would.
template <class Reader>
void scan(const Reader& reader, std::int64_t rows, std::size_t row_bytes, const Visitor& visit) {
  const std::int64_t block = std::max<std::int64_t>(1, (1 << 20) / static_cast<std::int64_t>(row_bytes));
  std::vector<std::byte> buffer(static_cast<std::size_t>(block) * row_bytes);
  for (std::int64_t first = 0; first < rows; first += block) {
    const auto count = static_cast<std::size_t>(std::min(block, rows - first));
    const auto part = std::span(buffer).first(count * row_bytes);
    reader.read(first, part);
    visit(part);
  }
}

// Samples of a split that the caller reads.
struct GivenSamples {
  const DatasetWriter::ReadSamples& given;
  std::size_t split;
  void read(std::int64_t first, std::span<std::byte> samples) const { given(split, first, samples); }
};

}  // namespace

void measure(const std::vector<StoredSplit>& splits, DatasetInfo& info,
             const DatasetWriter::ReadSamples& given) {
  const auto training = std::find_if(splits.begin(), splits.end(),
                                     [](const StoredSplit& split) { return split.name == "train"; });
  const StoredSplit& measured = training == splits.end() ? splits.front() : *training;
  const auto channels = static_cast<std::size_t>(channel_count(info.sample_type, info.sample_shape));
  ChannelStatistics statistics(channels);
  std::uint32_t hash = 0;
  const Visitor sum = [&](std::span<const std::byte> part) { hash = crc32(part, hash); };
  const Visitor sum_and_add = [&](std::span<const std::byte> part) {
    hash = crc32(part, hash);
    if (info.sample_type == SampleType::kUint8) {
      statistics.add(std::span(reinterpret_cast<const std::uint8_t*>(part.data()), part.size()));
    } else if (info.sample_type == SampleType::kFloat32) {
      statistics.add(std::span(reinterpret_cast<const float*>(part.data()), part.size() / sizeof(float)));
    }
  };
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const StoredSplit& split = splits[i];
    const Visitor& visit = &split == &measured ? sum_and_add : sum;
    if (given) {
      scan(GivenSamples{given, i}, split.count, split.sample_bytes(), visit);
    } else {
      scan(SampleReader(split), split.count, split.sample_bytes(), visit);
    }
    scan(ArrayReader(split.labels, SampleType::kInt32, sizeof(std::int32_t)), split.count,
         sizeof(std::int32_t), sum);
    if (split.weights.empty()) continue;
    scan(ArrayReader(split.weights, SampleType::kFloat32, sizeof(float)), split.count, sizeof(float), sum);
  }
  info.channel_mean = info.channel_std = {};
  if (channels > 0) {
    info.channel_mean = statistics.mean();
    info.channel_std = statistics.deviation();
  }
  info.content_hash = fmt::format("crc32:{:08x}", hash);
}

}  // namespace convoke::data
