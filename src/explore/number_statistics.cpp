#include <algorithm>
#include <limits>

#include "convoke/explore/sampling.hpp"
#include "statistics.hpp"

namespace convoke::explore {
namespace {

constexpr std::int64_t kSampledValues = 4'000'000;
constexpr std::int64_t kMostRows = 20'000;
constexpr std::size_t kBins = 60;
constexpr std::uint64_t kDrawSamples = 10, kDrawSteps = 11;

}  // namespace

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

}  // namespace convoke::explore
