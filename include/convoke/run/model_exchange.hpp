#pragma once
#include <functional>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/initial_weights.hpp"
#include "convoke/run/model_file.hpp"

// A model file need be on the host of rank 0 alone: rank 0 reads it and sends what it holds.

namespace convoke::run {

/// Runs `read` on rank 0 of `group` and returns its models on all ranks; all ranks throw its errors as
/// mpi::together() does. Collective.
ModelSet models_from_root(const mpi::Communicator& group, const std::function<ModelSet()>& read);

/// Does the same for weights to start from.
InitialWeights weights_from_root(const mpi::Communicator& group, const std::function<InitialWeights()>& read);

}  // namespace convoke::run
