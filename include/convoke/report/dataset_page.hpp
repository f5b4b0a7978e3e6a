#pragma once
#include <string>
#include <vector>

#include "convoke/explore/inspection.hpp"
#include "convoke/report/page.hpp"

namespace convoke::report {

/// What was found out about a dataset, as a page. `made_by`: a line on how it was made.
Page dataset_page(const explore::Inspection& inspection, const std::string& made_by);

/// What should be seen to before training on it, a sentence each: classes without samples, samples that stand
/// in two splits, equal samples of different classes, values that do not vary, strong imbalance.
std::vector<std::string> findings(const explore::Inspection& inspection);

/// Largest over least number of training samples of a class, of those that have any.
double imbalance(const explore::Inspection& inspection);

}  // namespace convoke::report
