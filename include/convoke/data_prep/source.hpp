#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_writer.hpp"

namespace convoke::data_prep {

/// Samples in some foreign form. Opening one has read what its splits are, not yet the samples.
class Source {
 public:
  virtual ~Source() = default;

  /// Shape, classes, class names where the source has them, and provenance.
  virtual const data::DatasetInfo& info() const = 0;
  virtual const std::vector<data::SplitSize>& splits() const = 0;

  /// Decodes samples first, first + 1, ... of a split: (n, H, W, C) values and n labels. Reading on from
  /// where the last call ended is fast. Throws Error naming the file where the source is damaged.
  virtual void read(const std::string& split, std::int64_t first, std::span<std::uint8_t> samples,
                    std::span<std::int32_t> labels) = 0;
};

}  // namespace convoke::data_prep
