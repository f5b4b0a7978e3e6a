#include "convoke/train/assignment.hpp"

#include <algorithm>

#include "convoke/engine/stretches.hpp"

namespace convoke::train {

data::EpochPlan plan_epoch(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           std::int64_t epoch) {
  const auto number = static_cast<std::uint32_t>(epoch);
  if (job.sampling == data::Sampling::kBalanced) {
    return data::EpochPlan::balanced(assignment.training, loader.split().labels, assignment.seed, number,
                                     job.engine.batch);
  }
  return {assignment.training, assignment.seed, number, job.engine.batch, job.shuffle};
}

data::ReadAhead::Share share_of_rank(std::int64_t lane, const mpi::Communicator& group) {
  return [lane, rank = group.rank(), ranks = group.size()](std::int64_t samples) {
    const engine::LaneRange mine = engine::share_of({0, (samples + lane - 1) / lane}, rank, ranks);
    const std::int64_t first = std::min(mine.first * lane, samples);
    return data::SampleRange{first, std::min((mine.first + mine.count) * lane, samples) - first};
  };
}

}  // namespace convoke::train
