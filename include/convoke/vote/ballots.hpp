#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::vote {

/// The ballots on some samples: class probabilities of every member. A view.
struct Ballots {
  std::span<const float> probabilities;  ///< (members, samples, classes), dense
  std::int64_t members = 0;
  std::int64_t samples = 0;
  std::int64_t classes = 0;
};

/// The most probable class of each member on each sample, lowest label first among equals: (members,
/// samples).
std::vector<std::int32_t> member_labels(const Ballots& ballots);

/// What the members say together: mean over them, (samples, classes).
std::vector<double> mean_probabilities(const Ballots& ballots);

}  // namespace convoke::vote
