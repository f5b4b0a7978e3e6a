#pragma once
#include "convoke/data/batch_loader.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/reports.hpp"

namespace convoke::train {

/// What the parts of a Trainer share: the model, its samples, the ranks that train it, and where they report.
/// What it refers to must outlive them.
struct ModelContext {
  const Job& job;
  Assignment assignment;
  const data::BatchLoader& loader;  ///< of the training samples
  const mpi::Communicator& group;
  Reports reports;
  run::Phases& phases;
};

}  // namespace convoke::train
