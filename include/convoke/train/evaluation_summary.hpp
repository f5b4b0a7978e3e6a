#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

/// Returns the results of an evaluation as a part of summaries: accuracy, precision, recall, f1 (weighted),
/// loss and accuracy of members, accuracy of each prefix under each rule, disagreement. `members`: the
/// numbers of the evaluated members.
Settings evaluation_summary(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members);

/// Returns lines about members (of many: the best, the median and the worst) and votes, and the
/// classification report of `rule`.
std::string evaluation_text(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names);

}  // namespace convoke::train
