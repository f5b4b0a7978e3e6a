#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/data/normalization.hpp"
#include "convoke/explore/distribution.hpp"
#include "convoke/explore/survey.hpp"

// The statistics that the survey collects for each type of samples. Each gets every sample once, split by
// split; the first split is the training split.

namespace convoke::explore {

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
  ByteStatistics(const data::DatasetReader& reader, std::size_t shown);
  void add(const Seen& seen, std::span<const std::uint8_t> sample);
  void finish(Survey& survey);

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
  NumberStatistics(const data::DatasetReader& reader, std::size_t shown, std::uint64_t seed);
  void add(const Seen& seen, std::span<const float> sample);
  void finish(Survey& survey);

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
  TokenStatistics(const data::DatasetReader& reader, std::size_t shown);
  void add(const Seen& seen, std::span<const std::int32_t> sample);
  void finish(Survey& survey);

 private:
  TokenCounts words_;
  std::vector<std::vector<float>> of_split_, of_class_;  // lengths
};

}  // namespace convoke::explore
