#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

/// What evaluation.json holds, the keys are in docs/formats.md: of the decision of all voters by `rule` the
/// confusion matrix and the scores of each class, of each pair of members their disagreement, of the mean
/// probabilities and of each member the calibration, and the worst mistakes. `members`: the numbers of those
/// evaluated; `class_names`: one for each class, or empty.
Settings evaluation_details(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names);

}  // namespace convoke::train
