#include "dataset_output.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "convoke/data/shards.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 4 << 20;

// Returns the size of a file, or of the files of a folder.
std::uint64_t size_on_disk(const fs::path& path) {
  if (!fs::is_directory(path)) return fs::file_size(path);
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) bytes += entry.file_size();
  return bytes;
}

}  // namespace

void DatasetOutput::arrange(const SplitAssignment& splits, const Groups& groups, PrepareReport& report) {
  const bool sized = sizes_differ();
  for (std::size_t s = 0; s < splits.names.size(); ++s) {
    std::vector<std::size_t> items = splits.items(s);
    std::erase_if(items, [&](std::size_t item) { return records_[item].state == Record::kBad; });
    const bool shuffled = options_.order == Order::kShuffled ||
                          (options_.order == Order::kAuto && lies_by_class(catalog_, items));
    if (shuffled) shuffle_items(items, options_.splits.seed, s);
    report.shuffled = report.shuffled || shuffled;
    report.splits.push_back({.name = splits.names[s],
                             .samples = static_cast<std::int64_t>(items.size()),
                             .weights = catalog_.weighted,
                             .original_sizes = sized});
    if (options_.encoding) report.splits.back().encoded_ends = encoded_ends(items);
    items_.push_back(std::move(items));
  }
  number_groups(groups, report.splits);
  report.left_out = std::ranges::count(records_, Record::kBad, &Record::state);
  if (options_.shards > 0) report.splits = data::in_shards(report.splits, options_.shards);
}

// True if the original size of any sample differs from its present size. (Rows of tables have no original
// size.)
bool DatasetOutput::sizes_differ() const {
  const bool pictures = format_.type == data::SampleType::kUint8;
  return std::ranges::any_of(records_, [&](const Record& record) {
    if (!pictures) return record.height > 0;
    return record.state == Record::kDone &&
           (record.height != format_.shape[1] || record.width != format_.shape[2]);
  });
}

// Numbers the groups in the order of the dataset. A split stores them if it has two samples of one group.
void DatasetOutput::number_groups(const Groups& groups, std::vector<data::SplitSize>& splits) {
  group_of_.resize(catalog_.items.size());
  std::unordered_map<std::size_t, std::int32_t> numbers;
  for (std::size_t s = 0; s < items_.size(); ++s) {
    std::unordered_set<std::int32_t> seen;
    for (const std::size_t item : items_[s]) {
      const auto next = static_cast<std::int32_t>(numbers.size());
      group_of_[item] = numbers.try_emplace(groups.first_of(item), next).first->second;
      if (!seen.insert(group_of_[item]).second) splits[s].groups = true;
    }
  }
}

std::vector<std::int64_t> DatasetOutput::encoded_ends(const std::vector<std::size_t>& items) const {
  std::vector<std::int64_t> ends;
  std::int64_t end = 0;
  for (const std::size_t item : items)
    ends.push_back(end += static_cast<std::int64_t>(records_[item].encoded_bytes));
  return ends;
}

void DatasetOutput::write(const Spool& spool, PrepareReport& report) const {
  data::DatasetWriter writer = open_writer(report);
  for (std::size_t s = 0; s < items_.size(); ++s) write_split(s, report.splits[s], spool, writer);
  writer.flush();
  team_.barrier();
  if (team_.index == 0) {
    report.info = options_.encoding ? writer.finish(decoded(spool)) : writer.finish();
    report.bytes = size_on_disk(options_.output);
  }
  team_.barrier();
}

// Process 0 creates the file and sends the positions of its arrays to the others.
data::DatasetWriter DatasetOutput::open_writer(const PrepareReport& report) const {
  if (team_.index == 0) {
    auto writer =
        data::DatasetWriter::create(options_.output, report.info, report.splits, options_.overwrite);
    std::vector<std::uint64_t> places = writer.places();
    team_.broadcast(places);
    return writer;
  }
  std::vector<std::uint64_t> places(data::DatasetWriter::place_count(report.splits));
  team_.broadcast(places);
  return data::DatasetWriter::join(options_.output, report.info, report.splits, places);
}

void DatasetOutput::write_split(std::size_t split, const data::SplitSize& size, const Spool& spool,
                                data::DatasetWriter& writer) const {
  const std::vector<std::size_t>& items = items_[split];
  const Share mine(static_cast<std::int64_t>(items.size()), team_);
  const auto block =
      static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / format_.sample_bytes()));
  std::vector<std::byte> bytes;
  std::vector<std::int32_t> labels, sizes, groups;
  std::vector<float> weights;
  for (std::int64_t first = mine.first; first < mine.last; first += block) {
    bytes.clear();
    labels.clear();
    weights.clear();
    sizes.clear();
    groups.clear();
    const std::int64_t last = std::min(first + block, mine.last);
    for (std::int64_t k = first; k < last; ++k) {
      const std::size_t item = items[static_cast<std::size_t>(k)];
      append_stored(item, spool, bytes);
      labels.push_back(catalog_.items[item].label);
      if (size.weights) weights.push_back(catalog_.items[item].weight);
      if (size.original_sizes) sizes.insert(sizes.end(), {records_[item].height, records_[item].width});
      if (size.groups) groups.push_back(group_of_[item]);
    }
    writer.write(size.name, first, data::samples_in(format_.type, bytes), labels, weights, sizes, groups);
  }
}

// Appends the sample as the dataset stores it.
void DatasetOutput::append_stored(std::size_t item, const Spool& spool, std::vector<std::byte>& bytes) const {
  if (options_.encoding) {
    const std::vector<std::byte> encoded = spool.get_encoded(item, records_[item]);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  } else {
    bytes.resize(bytes.size() + format_.sample_bytes());
    spool.get(item, records_[item], std::span(bytes).last(format_.sample_bytes()));
  }
}

// Encoded samples were decoded already when they were encoded.
data::DatasetWriter::ReadSamples DatasetOutput::decoded(const Spool& spool) const {
  return [&](std::size_t split, std::int64_t first, std::span<std::byte> samples) {
    for (auto item = items_[split].begin() + first; !samples.empty(); ++item) {
      spool.get(*item, records_[*item], samples.first(format_.sample_bytes()));
      samples = samples.subspan(format_.sample_bytes());
    }
  };
}

}  // namespace convoke::data_prep
