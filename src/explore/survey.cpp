#include "convoke/explore/survey.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <type_traits>

#include "convoke/core/checksum.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/data/normalization.hpp"
#include "convoke/explore/sample.hpp"

namespace convoke::explore {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::int64_t kMeanBytes = std::int64_t{256} << 20;  // memory for class means
constexpr std::int64_t kSampledValues = 4'000'000;
constexpr std::int64_t kMostRows = 20'000;
constexpr std::size_t kBins = 60;
constexpr std::uint64_t kDrawSamples = 10, kDrawSteps = 11;

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

std::vector<BoxPlot> box_plots(std::vector<std::vector<float>>& lists) {
  std::vector<BoxPlot> boxes;
  for (std::vector<float>& values : lists) boxes.push_back(box_plot(values));
  return boxes;
}

std::size_t channels_of(const data::DatasetReader& reader) {
  return static_cast<std::size_t>(data::channel_count(reader.info().sample_type, reader.info().sample_shape));
}

// The statistics of each type of samples. Each gets every sample once, split by split; the first split is the
// training split.

/// A sample that is counted: its split, and for the training split the place of its class among the shown
/// (-1: not shown).
struct Seen {
  std::size_t split;
  std::int64_t index;  ///< in its split
  std::int32_t label;
  std::int32_t shown;
};

/// Images of 8 bits: all statistics follow from the frequency of each value.
class ByteStatistics {
 public:
  ByteStatistics(const data::DatasetReader& reader, std::size_t shown)
      : channels_(channels_of(reader)),
        of_split_(reader.splits().size(), std::vector<ByteCounts>(channels_)),
        of_class_(shown),
        brightness_(shown) {}

  void add(const Seen& seen, std::span<const std::uint8_t> sample) {
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

  void finish(Survey& survey) {
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
    survey.brightness = box_plots(brightness_);
  }

 private:
  std::size_t channels_;
  std::vector<std::vector<ByteCounts>> of_split_;  // by split and channel
  std::vector<ByteCounts> of_class_;               // by shown class, all channels together
  std::vector<std::vector<float>> brightness_;     // by shown class, of each sample
};

/// Measured numbers: moments of all; other statistics of a keyed sample of rows (pixels, time steps or
/// samples).
class NumberStatistics {
 public:
  // Keeps rows of as many samples as possible, and of each sample as many rows as then fit.
  NumberStatistics(const data::DatasetReader& reader, std::size_t shown, std::uint64_t seed)
      : channels_(channels_of(reader)),
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
    const std::int64_t each =
        std::max<std::int64_t>(1, rows / std::max<std::int64_t>(1, std::ssize(sampled_)));
    steps_ = keyed_sample(steps, each, seed, kDrawSteps);
  }

  void add(const Seen& seen, std::span<const float> sample) {
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

  void finish(Survey& survey) {
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
    survey.brightness = box_plots(brightness_);
  }

 private:
  std::size_t channels_;
  bool images_;
  std::vector<data::ChannelStatistics> moments_;  // by split
  std::vector<std::vector<float>> least_, largest_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> sampled_;  // training samples whose rows are kept, ascending
  std::vector<std::int64_t> steps_;    // the kept rows of a sample
  std::size_t next_ = 0;
  std::vector<double> rows_;
  std::vector<std::int32_t> row_labels_;
  std::vector<std::vector<float>> brightness_;
};

/// Texts: lengths and words.
class TokenStatistics {
 public:
  TokenStatistics(const data::DatasetReader& reader, std::size_t shown)
      : words_(reader.info().classes), of_split_(reader.splits().size()), of_class_(shown) {}

  void add(const Seen& seen, std::span<const std::int32_t> sample) {
    const auto length =
        static_cast<float>(std::ranges::count_if(sample, [](std::int32_t t) { return t != 0; }));
    of_split_[seen.split].push_back(length);
    if (seen.split != 0) return;
    words_.add(sample, seen.label);
    if (seen.shown >= 0) of_class_[static_cast<std::size_t>(seen.shown)].push_back(length);
  }

  void finish(Survey& survey) {
    survey.lengths = histogram_of_whole(of_split_.front(), 0, kBins);
    for (std::size_t split = 0; split < of_split_.size(); ++split) {
      survey.splits[split].lengths = box_plot(of_split_[split]);
    }
    survey.class_lengths = box_plots(of_class_);
    survey.words = std::move(words_);
  }

 private:
  TokenCounts words_;
  std::vector<std::vector<float>> of_split_, of_class_;  // lengths
};

// sum[v] += x[v]
CONVOKE_MULTIVERSION
void add_bytes(const std::uint8_t* __restrict x, double* __restrict sum, std::size_t n) {
  for (std::size_t v = 0; v < n; ++v) sum[v] += static_cast<double>(x[v]);
}
CONVOKE_MULTIVERSION
void add_floats(const float* __restrict x, double* __restrict sum, std::size_t n) {
  for (std::size_t v = 0; v < n; ++v) sum[v] += static_cast<double>(x[v]);
}
void add_to(std::span<const std::uint8_t> x, std::span<double> sum) {
  add_bytes(x.data(), sum.data(), x.size());
}
void add_to(std::span<const float> x, std::span<double> sum) { add_floats(x.data(), sum.data(), x.size()); }

std::vector<std::int64_t> count_classes(const data::DatasetReader::Part& split, std::int64_t classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes), 0);
  for (const std::int32_t label : split.labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

// Reads every sample of every split, in order, in pieces that fit in memory.
template <class T, class Statistics>
void read_all(const data::DatasetReader& reader, const SurveyOptions& options, Statistics statistics,
              Survey& result) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(reader.info().classes),
                                  -1);  // place among the shown classes
  for (std::size_t s = 0; s < result.shown_classes.size(); ++s) {
    place[static_cast<std::size_t>(result.shown_classes[s])] = static_cast<std::int32_t>(s);
  }
  const std::size_t size = reader.sample_size();
  const auto at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, kPieceBytes / (size * sizeof(T))));
  std::vector<T> piece;
  std::int64_t done = 0;
  for (std::size_t split = 0; split < reader.splits().size(); ++split) {
    const std::vector<std::int32_t>& labels = reader.splits()[split].labels;
    for (std::int64_t first = 0; first < std::ssize(labels); first += at_once) {
      const std::int64_t samples = std::min(at_once, std::ssize(labels) - first);
      piece.resize(static_cast<std::size_t>(samples) * size);
      reader.read(split, first, std::span(piece));
      for (std::int64_t i = 0; i < samples; ++i) {
        const auto sample = std::span<const T>(piece).subspan(static_cast<std::size_t>(i) * size, size);
        const std::int32_t label = labels[static_cast<std::size_t>(first + i)];
        const std::int32_t shown = place[static_cast<std::size_t>(label)];
        result.checksums[split].push_back(crc32(std::as_bytes(sample)));
        statistics.add({split, first + i, label, shown}, sample);
        if constexpr (!std::is_same_v<T, std::int32_t>) {
          if (split == 0 && shown >= 0) add_to(sample, result.class_means.row(shown));
        }
      }
      options.progress(done += samples);
    }
  }
  statistics.finish(result);
}

// Converts sums to means; a class without a training sample keeps zeros.
void divide_means(Survey& result) {
  for (std::int64_t s = 0; s < result.class_means.rows; ++s) {
    const std::int32_t label = result.shown_classes[static_cast<std::size_t>(s)];
    const std::int64_t count = result.splits.front().class_counts[static_cast<std::size_t>(label)];
    for (double& value : result.class_means.row(s))
      value /= static_cast<double>(std::max<std::int64_t>(1, count));
  }
}

}  // namespace

std::vector<std::int64_t> Survey::known_means() const {
  std::vector<std::int64_t> known;
  for (std::int64_t s = 0; s < class_means.rows; ++s) {
    const std::int32_t label = shown_classes[static_cast<std::size_t>(s)];
    if (splits.front().class_counts[static_cast<std::size_t>(label)] > 0) known.push_back(s);
  }
  return known;
}

Survey survey(const data::DatasetReader& reader, const SurveyOptions& options) {
  Survey result;
  for (const data::DatasetReader::Part& split : reader.splits()) {
    result.splits.push_back({split.name, split.count(), count_classes(split, reader.info().classes), {}, {}});
    result.checksums.emplace_back().reserve(split.labels.size());
  }
  const bool tokens = reader.info().sample_type == data::SampleType::kInt32;
  const auto size = static_cast<std::int64_t>(reader.sample_size());
  const std::int64_t room =
      tokens ? options.shown_classes
             : std::clamp<std::int64_t>(kMeanBytes / (size * static_cast<std::int64_t>(sizeof(double))), 1,
                                        options.shown_classes);
  result.shown_classes = largest<std::int32_t>(result.splits.front().class_counts, room);
  std::ranges::sort(result.shown_classes);
  const std::size_t shown = result.shown_classes.size();
  if (!tokens) result.class_means = Matrix(static_cast<std::int64_t>(shown), size);

  switch (reader.info().sample_type) {
    case data::SampleType::kUint8:
      read_all<std::uint8_t>(reader, options, ByteStatistics(reader, shown), result);
      break;
    case data::SampleType::kInt32:
      read_all<std::int32_t>(reader, options, TokenStatistics(reader, shown), result);
      break;
    default:
      read_all<float>(reader, options, NumberStatistics(reader, shown, options.seed), result);
  }
  divide_means(result);
  return result;
}

}  // namespace convoke::explore
