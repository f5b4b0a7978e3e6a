#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

/// Returns the content of evaluation.json, whose keys are in docs/formats.md: the confusion matrix and the
/// scores of each class for the decision of all voters by `rule`, the disagreement of each pair of members,
/// the calibration of the mean probabilities and of each member, and the worst mistakes. `members`: the
/// numbers of the evaluated members; `class_names`: one for each class, or empty.
Settings evaluation_details(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names);

}  // namespace convoke::train
