#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/vote/rule.hpp"

namespace convoke::train {

/// A sample that the members together get wrong, and who said what.
struct Mistake {
  std::int64_t sample = 0;  ///< its id, a place in its split
  std::int32_t truth = 0;
  double probability = 0;                  ///< mean over the members, of the true class
  std::vector<std::int64_t> votes = {};    ///< each member's most probable class
  std::vector<double> probabilities = {};  ///< that each gives its vote
  std::vector<std::int64_t> elected = {};  ///< by each rule of vote::rule_names(), of all members
};

/// Of the samples whose true class is not the most probable one by the members' mean, those that give it the
/// least probability, at most `most`, worst first (among equals, by id). `mean`: (samples, classes), as
/// vote::mean_probabilities gives it; `truth` and `ids`: of this rank's samples, whose ballots these are. The
/// same for any number of ranks, on all of them. Collective.
std::vector<Mistake> worst_mistakes(const vote::Ballots& ballots, std::span<const double> mean,
                                    std::span<const std::int32_t> truth, std::span<const std::uint32_t> ids,
                                    std::size_t most, const mpi::Communicator& group);

/// As evaluation.json has it.
Settings to_settings(const Mistake& mistake);

}  // namespace convoke::train
