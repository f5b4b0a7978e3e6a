#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// How stored values become a network's input, per channel: (value - mean) / deviation.
struct Normalization {
  std::vector<float> scale;  ///< C of them: input = value * scale + shift
  std::vector<float> shift;
};

/// "unit" (x / 255), "standard" (by the training split's channel mean and deviation) or "none". Throws Error
/// listing the known ones.
Normalization normalization_from(const std::string& name, const DatasetInfo& info);

/// Assembles lanes: gathers samples by id, converts them to float, normalises, and turns (H, W, C) into (C,
/// H, W). Stateless and const: any number of threads may use one loader.
class BatchLoader {
 public:
  BatchLoader(Split split, Shape sample_shape, Normalization normalization);

  /// samples: (n, C, H, W) floats; labels: n, may be empty. Sizes follow from ids.
  void load(std::span<const std::uint32_t> ids, std::span<float> samples,
            std::span<std::int32_t> labels) const;

  const Split& split() const { return split_; }

 private:
  Split split_;
  Shape shape_;
  Normalization normalization_;
};

}  // namespace convoke::data
