#include <algorithm>
#include <cmath>

#include "statistics.hpp"

namespace convoke::explore {
namespace {

constexpr double kMostBins = 60;

// Lengths are whole numbers, so bins have a whole width and begin at 0.
Histogram of_lengths(const std::vector<float>& lengths) {
  const double longest =
      lengths.empty() ? 0 : static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
  const double width = std::max(1.0, std::ceil((longest + 1) / kMostBins));
  Histogram result{0, width, std::vector<std::int64_t>(static_cast<std::size_t>(longest / width) + 1)};
  for (const float length : lengths) {
    ++result.counts[static_cast<std::size_t>(static_cast<double>(length) / width)];
  }
  return result;
}

}  // namespace

TokenStatistics::TokenStatistics(const data::DatasetReader& reader, std::size_t shown)
    : words_(reader.info().classes), of_split_(reader.splits().size()), of_class_(shown) {}

void TokenStatistics::add(const Seen& seen, std::span<const std::int32_t> sample) {
  const auto length =
      static_cast<float>(std::count_if(sample.begin(), sample.end(), [](std::int32_t t) { return t != 0; }));
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
