#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/distribution.hpp"
#include "convoke/explore/vectors.hpp"
#include "convoke/explore/words.hpp"

namespace convoke::explore {

struct SurveyOptions {
  std::uint64_t seed = 0;
  std::int64_t shown_classes = 40;  ///< classes with separate means, box plots, ...
  /// Called with the number of samples read so far.
  std::function<void(std::int64_t)> progress = [](std::int64_t) {};
};

/// Statistics of one complete split.
struct SplitSurvey {
  std::string name;
  std::int64_t count = 0;
  std::vector<std::int64_t> class_counts;  ///< (K)
  std::vector<Moments> channels;           ///< of each channel or feature; empty for tokens
  BoxPlot lengths;                         ///< of tokens: without padding
};

/// The results of reading every sample of a dataset. The training split is the first one.
struct Survey {
  std::vector<SplitSurvey> splits;
  std::vector<std::vector<std::uint32_t>> checksums;  ///< of each split: CRC-32 of each sample

  /// The classes with separate statistics, ascending: all, or those with most training samples.
  std::vector<std::int32_t> shown_classes;
  Matrix class_means;  ///< (shown, values of a sample): mean training sample; (0, 0) for tokens

  /// Training split, per channel or feature. 8-bit values: of all values, in 256 bins of width 1; others: of
  /// `rows`.
  std::vector<Histogram> histograms;
  std::vector<BoxPlot> boxes;

  std::vector<BoxPlot> brightness;    ///< images, per shown class: of each image's mean value
  std::vector<BoxPlot> class_values;  ///< 8-bit images, per shown class: of all values

  /// Measured numbers: a keyed sample of pixels, time steps or samples of the training split, with all
  /// channels or features, and the class of each.
  Matrix rows;
  std::vector<std::int32_t> row_labels;

  TokenCounts words{0};                ///< of the training split
  Histogram lengths;                   ///< tokens: of the training split
  std::vector<BoxPlot> class_lengths;  ///< tokens, per shown class

  /// Returns the rows of `class_means` of the classes that have training samples. The others are 0.
  std::vector<std::int64_t> known_means() const;
};

/// Reads the whole dataset once, in pieces of a few MiB. Throws Error as DatasetReader::read.
Survey survey(const data::DatasetReader& reader, const SurveyOptions& options);

}  // namespace convoke::explore
