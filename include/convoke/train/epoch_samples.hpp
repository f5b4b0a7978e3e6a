#pragma once
#include <cstdint>

#include "convoke/data/batch_loader.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/data/read_ahead.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/assignment.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The samples of an epoch (counted from 0) in their order: a pure function of the job, the assignment's seed
/// and the epoch. `loader`: of the training samples.
data::EpochPlan plan_epoch(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           std::int64_t epoch);

/// Which samples of a step this rank of the group takes, in lanes of `lane`: those that it reads ahead.
data::ReadAhead::Share share_of_rank(std::int64_t lane, const mpi::Communicator& group);

}  // namespace convoke::train
