#pragma once
#include <string>
#include <vector>

#include "convoke/explore/inspection.hpp"
#include "convoke/report/page.hpp"

namespace convoke::report {

/// The inspection of a dataset as a page. `made_by`: a line on how it was made.
Page dataset_page(const explore::Inspection& inspection, const std::string& made_by);

/// Problems to solve before training, a sentence each: classes without samples, samples in two splits, equal
/// samples of different classes, constant values, strong imbalance.
std::vector<std::string> findings(const explore::Inspection& inspection);

/// The largest number of training samples of a class over the smallest, among classes with samples.
double imbalance(const explore::Inspection& inspection);

}  // namespace convoke::report
