#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/distribution.hpp"
#include "convoke/explore/matrix.hpp"
#include "convoke/explore/words.hpp"

namespace convoke::explore {

struct SurveyOptions {
  std::uint64_t seed = 0;
  std::int64_t shown_classes = 40;  ///< classes with a mean, box plots, ... of their own
  /// Called with the samples read so far.
  std::function<void(std::int64_t)> progress = [](std::int64_t) {};
};

/// One split, counted and measured whole.
struct SplitSurvey {
  std::string name;
  std::int64_t count = 0;
  std::vector<std::int64_t> class_counts;  ///< (K)
  std::vector<Moments> channels;           ///< of each channel or feature; none of tokens
  BoxPlot lengths;                         ///< of tokens: without padding
};

/// What every sample of a dataset was read for. Where it says training split, that is the first one.
struct Survey {
  std::vector<SplitSurvey> splits;
  std::vector<std::vector<std::uint32_t>> checksums;  ///< of each split: CRC-32 of each sample

  /// The classes that the following tell apart, rising: all, or those with most training samples.
  std::vector<std::int32_t> shown_classes;
  Matrix class_means;  ///< (shown, values of a sample): mean training sample; none of tokens, (0, 0)

  /// Of the training split, per channel or feature. 8-bit values: of all of them, in 256 bins of 1; others:
  /// of `rows`.
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
};

/// Reads all of a dataset once, in pieces of a few MiB. Throws Error as DatasetReader::read.
Survey survey(const data::DatasetReader& reader, const SurveyOptions& options);

}  // namespace convoke::explore
