#pragma once
#include "convoke/recipe/recipe.hpp"
#include "convoke/slurm/layout.hpp"

namespace convoke::app {

/// What a job of this recipe can use: workers up to the lanes of a step, of each member that trains in it,
/// and the memory that training is predicted to take. `alone`: the job trains one member of an ensemble.
/// `recipe` must outlive it.
slurm::Workload workload_of(const recipe::Recipe& recipe, bool alone);

}  // namespace convoke::app
