#pragma once
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// Turns stored values into a network's input, per channel of an image or per feature: (value - mean) /
/// standard deviation. Empty for tokens, which are not normalised.
struct Normalization {
  std::vector<float> scale;  ///< channel_count of them: input = value * scale + shift
  std::vector<float> shift;
};

/// Returns the normalisation called `name`: "unit" (x / 255, only for uint8), "standard" (mean and standard
/// deviation of each channel or feature of the training split) or "none", the only one for tokens. Throws
/// Error listing the known names or saying what the dataset lacks; `where` is the dataset's file, for
/// messages.
Normalization normalization_from(const std::string& name, const DatasetInfo& info,
                                 const std::string& where = "the dataset");

}  // namespace convoke::data
