#pragma once
#include "convoke/data/batch_loader.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/reports.hpp"

namespace convoke::train {

/// References that the parts of a Trainer share: the model, its samples, its ranks, and the logs.
/// The objects must outlive these parts.
struct ModelContext {
  const Job& job;
  Assignment assignment;
  const data::BatchLoader& loader;  ///< of the training samples
  const mpi::Communicator& group;
  Reports reports;
  run::Phases& phases;
};

}  // namespace convoke::train
