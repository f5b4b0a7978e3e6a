#include "explore/statistics.hpp"

#include <array>
#include <numeric>

namespace convoke::explore {

ByteStatistics::ByteStatistics(const data::DatasetReader& reader, std::size_t shown)
    : channels_(static_cast<std::size_t>(
          data::channel_count(reader.info().sample_type, reader.info().sample_shape))),
      of_split_(reader.splits().size(), std::vector<ByteCounts>(channels_)),
      of_class_(shown),
      brightness_(shown) {}

void ByteStatistics::add(const Seen& seen, std::span<const std::uint8_t> sample) {
  const std::size_t pixels = sample.size() / channels_;
  for (std::size_t c = 0; c < channels_; ++c) {
    count_bytes(sample.data() + c, pixels, channels_, of_split_[seen.split][c]);
  }
  if (seen.split != 0 || seen.shown < 0) return;
  const auto shown = static_cast<std::size_t>(seen.shown);
  count_bytes(sample.data(), sample.size(), 1, of_class_[shown]);
  const auto sum = std::accumulate(sample.begin(), sample.end(), std::uint64_t{0});
  brightness_[shown].push_back(
      static_cast<float>(static_cast<double>(sum) / static_cast<double>(sample.size())));
}

void ByteStatistics::finish(Survey& survey) {
  for (std::size_t split = 0; split < of_split_.size(); ++split) {
    for (const ByteCounts& counts : of_split_[split]) {
      survey.splits[split].channels.push_back(moments(counts));
    }
  }
  for (const ByteCounts& counts : of_split_.front()) {
    survey.histograms.push_back({0, 1, {counts.begin(), counts.end()}});
    survey.boxes.push_back(box_plot(counts));
  }
  for (const ByteCounts& counts : of_class_) survey.class_values.push_back(box_plot(counts));
  for (std::vector<float>& means : brightness_) survey.brightness.push_back(box_plot(means));
}

// Uses four tables in turn: in runs of one value, such as backgrounds, one table would wait for its own last
// store.
void count_bytes(const std::uint8_t* values, std::size_t n, std::size_t stride, ByteCounts& counts) {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    ++tables[0][values[i * stride]];
    ++tables[1][values[(i + 1) * stride]];
    ++tables[2][values[(i + 2) * stride]];
    ++tables[3][values[(i + 3) * stride]];
  }
  for (; i < n; ++i) ++tables[0][values[i * stride]];
  for (std::size_t value = 0; value < counts.size(); ++value) {
    for (const auto& table : tables) counts[value] += table[value];
  }
}

}  // namespace convoke::explore
