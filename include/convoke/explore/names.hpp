#pragma once
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::explore {

/// What a dataset calls its tokens and features, as far as its preparation says (docs/formats.md); empty
/// where it does not.
struct Names {
  std::vector<std::string> words;     ///< of each token
  std::vector<std::string> features;  ///< of each feature: "age", "colour=red"
};

/// Throws Error naming `where` if the preparation is no JSON.
Names names_of(const data::DatasetInfo& info, const std::string& where);

}  // namespace convoke::explore
