#include "convoke/data_prep/prepare.hpp"

#include <algorithm>
#include <cassert>

#include "convoke/data_prep/source_table.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::int64_t kBlockBytes = 4 << 20;

/// What process `index` of `count` does of n samples: first..last-1.
struct Range {
  Range(std::int64_t n, const Team& team)
      : first(n * team.index / team.count), last(n * (team.index + 1) / team.count) {}
  std::int64_t first, last;
};

// Process 0 creates the file and tells the others where its arrays are.
data::DatasetWriter open_writer(const PrepareOptions& options, const data::DatasetInfo& info,
                                const std::vector<data::SplitSize>& splits, const Team& team) {
  if (team.index == 0) {
    auto writer = data::DatasetWriter::create(options.output, info, splits, options.overwrite);
    std::vector<std::uint64_t> places = writer.places();
    team.broadcast(places);
    return writer;
  }
  std::vector<std::uint64_t> places(data::DatasetWriter::place_count(splits));
  team.broadcast(places);
  return data::DatasetWriter::join(options.output, info, splits, places);
}

}  // namespace

PrepareReport prepare(const PrepareOptions& options, const Team& team) {
  assert(team.index >= 0 && team.index < team.count);
  // 1. What there is.
  const std::unique_ptr<Source> source = open_source(options.source, options.kind);
  PrepareReport report{source->info(), source->splits()};
  if (!options.class_names.empty()) report.info.class_names = options.class_names;

  // 2. A file with room for it.
  data::DatasetWriter writer = open_writer(options, report.info, report.splits, team);

  // 3. Each process decodes its range of every split and puts it there.
  const std::int64_t sample_bytes = report.info.sample_shape.elements();
  const std::int64_t block = std::max<std::int64_t>(1, kBlockBytes / sample_bytes);
  std::int64_t total = 0;
  for (const data::SplitSize& split : report.splits) {
    const Range mine(split.samples, team);
    total += mine.last - mine.first;
  }
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;
  std::int64_t done = 0;
  for (const data::SplitSize& split : report.splits) {
    const Range mine(split.samples, team);
    for (std::int64_t first = mine.first; first < mine.last; first += block) {
      const std::int64_t count = std::min(block, mine.last - first);
      samples.resize(static_cast<std::size_t>(count * sample_bytes));
      labels.resize(static_cast<std::size_t>(count));
      source->read(split.name, first, samples, labels);
      writer.write(split.name, first, samples, labels);
      done += count;
      if (options.progress) options.progress(done, total);
    }
  }

  // 4. Process 0 measures and completes it when all have written.
  writer.flush();
  team.barrier();
  if (team.index == 0) {
    report.info = writer.finish();
    report.bytes = std::filesystem::file_size(options.output);
  }
  team.barrier();
  return report;
}

}  // namespace convoke::data_prep
