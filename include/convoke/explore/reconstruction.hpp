#pragma once
#include <cstdint>
#include <vector>

#include "convoke/explore/pca.hpp"

namespace convoke::explore {

/// Returns sample `point` made of the mean and its first `components` principal components: (D).
std::vector<double> reconstruct(const Pca& pca, std::int64_t point, std::int64_t components);

/// Returns the root of the mean squared error of all values of all samples after reconstruct with 0, 1, 2,
/// ... components: from the variances, without the samples. (k + 1)
std::vector<double> reconstruction_errors(const Pca& pca);

}  // namespace convoke::explore
