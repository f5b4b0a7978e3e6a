#include "convoke/explore/survey.hpp"

#include <algorithm>
#include <type_traits>

#include "convoke/core/checksum.hpp"
#include "convoke/core/multiversion.hpp"
#include "statistics.hpp"

namespace convoke::explore {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::int64_t kMeanBytes = std::int64_t{256} << 20;  // memory for class means

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

// Visits every sample of every split, in order, in pieces that fit in memory.
template <class T, class Visit>
void for_each_sample(const data::DatasetReader& reader, const SurveyOptions& options, const Visit& visit) {
  const std::size_t size = reader.sample_size();
  const auto at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, kPieceBytes / (size * sizeof(T))));
  std::vector<T> piece;
  std::int64_t done = 0;
  for (std::size_t split = 0; split < reader.splits().size(); ++split) {
    const std::int64_t count = reader.splits()[split].count();
    for (std::int64_t first = 0; first < count; first += at_once) {
      const std::int64_t samples = std::min(at_once, count - first);
      piece.resize(static_cast<std::size_t>(samples) * size);
      reader.read(split, first, std::span(piece));
      for (std::int64_t i = 0; i < samples; ++i) {
        visit(split, first + i, std::span<const T>(piece).subspan(static_cast<std::size_t>(i) * size, size));
      }
      options.progress(done += samples);
    }
  }
}

template <class T, class Statistics>
void read_all(const data::DatasetReader& reader, const SurveyOptions& options, Statistics statistics,
              Survey& result) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(reader.info().classes),
                                  -1);  // place among the shown classes
  for (std::size_t s = 0; s < result.shown_classes.size(); ++s) {
    place[static_cast<std::size_t>(result.shown_classes[s])] = static_cast<std::int32_t>(s);
  }
  for_each_sample<T>(reader, options, [&](std::size_t split, std::int64_t i, std::span<const T> sample) {
    const std::int32_t label = reader.splits()[split].labels[static_cast<std::size_t>(i)];
    const std::int32_t shown = place[static_cast<std::size_t>(label)];
    result.checksums[split].push_back(crc32(std::as_bytes(sample)));
    statistics.add({split, i, label, shown}, sample);
    if constexpr (!std::is_same_v<T, std::int32_t>) {
      if (split == 0 && shown >= 0) add_to(sample, result.class_means.row(shown));
    }
  });
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
