#pragma once
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::explore {

/// The names of a dataset's tokens and features in its preparation (docs/formats.md); empty if it has none.
struct Names {
  std::vector<std::string> words;     ///< of each token
  std::vector<std::string> features;  ///< of each feature: "age", "color=red"
};

/// Throws Error naming `where` if the preparation is not JSON.
Names names_of(const data::DatasetInfo& info, const std::string& where);

}  // namespace convoke::explore
