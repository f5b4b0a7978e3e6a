#pragma once
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// How stored values become a network's input, per channel of an image or per feature: (value - mean) /
/// deviation. Empty for tokens, which are taken as they are.
struct Normalization {
  std::vector<float> scale;  ///< channel_count of them: input = value * scale + shift
  std::vector<float> shift;
};

/// "unit" (x / 255, of uint8 only), "standard" (by the training split's mean and deviation of each channel or
/// feature) or "none", which is the only one for tokens. Throws Error listing the known ones, or saying what
/// the dataset lacks; `where` is the dataset's file, for messages.
Normalization normalization_from(const std::string& name, const DatasetInfo& info,
                                 const std::string& where = "the dataset");

}  // namespace convoke::data
