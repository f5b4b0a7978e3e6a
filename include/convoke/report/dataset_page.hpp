#pragma once
#include <string>
#include <vector>

#include "convoke/explore/inspection.hpp"
#include "convoke/report/page.hpp"

namespace convoke::report {

/// Returns the inspection of a dataset as a page. `made_by`: a line about the origin of the page.
Page dataset_page(const explore::Inspection& inspection, const std::string& made_by);

/// Returns problems to solve before training, one sentence each: classes without samples, samples in two
/// splits, equal samples of different classes, constant values, strong imbalance.
std::vector<std::string> findings(const explore::Inspection& inspection);

/// Returns the ratio of the largest to the smallest number of training samples, among classes with samples.
double imbalance(const explore::Inspection& inspection);

/// Returns the number of significant digits that show a mean and the smallest and largest value next to their
/// standard deviation: at least 5.
int digits_for(const explore::Moments& moments);

}  // namespace convoke::report
