#include "explore/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "convoke/explore/sample.hpp"

namespace convoke::explore {
namespace {

constexpr std::int64_t kSampledValues = 4'000'000;
constexpr std::int64_t kMostRows = 20'000;
constexpr std::size_t kBins = 60;
constexpr std::uint64_t kDrawSamples = 10, kDrawSteps = 11;

constexpr double kMostBins = 60;

// Lengths are whole numbers, so bins have a whole width and begin at 0.
Histogram of_lengths(const std::vector<float>& lengths) {
  const double longest = lengths.empty() ? 0 : static_cast<double>(*std::ranges::max_element(lengths));
  const double width = std::max(1.0, std::ceil((longest + 1) / kMostBins));
  Histogram result{0, width, std::vector<std::int64_t>(static_cast<std::size_t>(longest / width) + 1)};
  for (const float length : lengths) {
    ++result.counts[static_cast<std::size_t>(static_cast<double>(length) / width)];
  }
  return result;
}

// Adds the frequency of each value among every `stride`-th of `values`, `n` of them, to `counts`.
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

}  // namespace

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

// Keeps rows of as many samples as possible, and of each sample as many rows as then fit.
NumberStatistics::NumberStatistics(const data::DatasetReader& reader, std::size_t shown, std::uint64_t seed)
    : channels_(static_cast<std::size_t>(
          data::channel_count(reader.info().sample_type, reader.info().sample_shape))),
      images_(data::kind_of(reader.info().sample_type, reader.info().sample_shape) == "images"),
      moments_(reader.splits().size(), data::ChannelStatistics(channels_)),
      least_(reader.splits().size(), std::vector<float>(channels_, std::numeric_limits<float>::infinity())),
      largest_(reader.splits().size(),
               std::vector<float>(channels_, -std::numeric_limits<float>::infinity())),
      counts_(reader.splits().size(), 0),
      brightness_(images_ ? shown : 0) {
  const auto channels = static_cast<std::int64_t>(channels_);
  const std::int64_t rows = std::clamp<std::int64_t>(kSampledValues / channels, 1, kMostRows);
  const std::int64_t steps = static_cast<std::int64_t>(reader.sample_size()) / channels;
  const std::int64_t training = reader.splits().front().count();
  sampled_ = keyed_sample(training, rows, seed, kDrawSamples);
  const std::int64_t each = std::max<std::int64_t>(1, rows / std::max<std::int64_t>(1, std::ssize(sampled_)));
  steps_ = keyed_sample(steps, each, seed, kDrawSteps);
}

void NumberStatistics::add(const Seen& seen, std::span<const float> sample) {
  moments_[seen.split].add(sample);
  counts_[seen.split] += static_cast<std::int64_t>(sample.size() / channels_);
  std::vector<float>& least = least_[seen.split];
  std::vector<float>& largest = largest_[seen.split];
  for (std::size_t v = 0; v < sample.size(); v += channels_) {
    for (std::size_t c = 0; c < channels_; ++c) {
      least[c] = std::min(least[c], sample[v + c]);
      largest[c] = std::max(largest[c], sample[v + c]);
    }
  }
  if (seen.split != 0) return;
  if (next_ < sampled_.size() && sampled_[next_] == seen.index) {
    ++next_;
    for (const std::int64_t step : steps_) {
      const auto row = sample.subspan(static_cast<std::size_t>(step) * channels_, channels_);
      rows_.insert(rows_.end(), row.begin(), row.end());
      row_labels_.push_back(seen.label);
    }
  }
  if (images_ && seen.shown >= 0) {
    double sum = 0;
    for (const float value : sample) sum += static_cast<double>(value);
    brightness_[static_cast<std::size_t>(seen.shown)].push_back(
        static_cast<float>(sum / static_cast<double>(sample.size())));
  }
}

void NumberStatistics::finish(Survey& survey) {
  for (std::size_t split = 0; split < moments_.size(); ++split) {
    const std::vector<double> mean = moments_[split].mean();
    const std::vector<double> deviation = moments_[split].deviation();
    for (std::size_t c = 0; c < channels_; ++c) {
      survey.splits[split].channels.push_back({counts_[split], mean[c], deviation[c],
                                               static_cast<double>(least_[split][c]),
                                               static_cast<double>(largest_[split][c])});
    }
  }
  survey.rows.rows = std::ssize(row_labels_);
  survey.rows.columns = static_cast<std::int64_t>(channels_);
  survey.rows.values = std::move(rows_);
  survey.row_labels = std::move(row_labels_);
  std::vector<float> column(static_cast<std::size_t>(survey.rows.rows));
  for (std::int64_t c = 0; c < survey.rows.columns; ++c) {
    for (std::int64_t r = 0; r < survey.rows.rows; ++r) {
      column[static_cast<std::size_t>(r)] = static_cast<float>(survey.rows(r, c));
    }
    survey.histograms.push_back(histogram(column, kBins));
    survey.boxes.push_back(box_plot(column));
  }
  for (std::vector<float>& means : brightness_) survey.brightness.push_back(box_plot(means));
}

TokenStatistics::TokenStatistics(const data::DatasetReader& reader, std::size_t shown)
    : words_(reader.info().classes), of_split_(reader.splits().size()), of_class_(shown) {}

void TokenStatistics::add(const Seen& seen, std::span<const std::int32_t> sample) {
  const auto length =
      static_cast<float>(std::ranges::count_if(sample, [](std::int32_t t) { return t != 0; }));
  of_split_[seen.split].push_back(length);
  if (seen.split != 0) return;
  words_.add(sample, seen.label);
  if (seen.shown >= 0) of_class_[static_cast<std::size_t>(seen.shown)].push_back(length);
}

void TokenStatistics::finish(Survey& survey) {
  survey.lengths = of_lengths(of_split_.front());
  for (std::size_t split = 0; split < of_split_.size(); ++split) {
    survey.splits[split].lengths = box_plot(of_split_[split]);
  }
  for (std::vector<float>& lengths : of_class_) survey.class_lengths.push_back(box_plot(lengths));
  survey.words = std::move(words_);
}

}  // namespace convoke::explore
