#pragma once
#include "convoke/data/dataset.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/train/job.hpp"

namespace convoke::app {

/// A recipe as the engine takes it, with `threads` workers per rank.
engine::EngineOptions engine_options(const recipe::Recipe& recipe, int threads);

/// A recipe as the trainer takes it: on this dataset, with so many threads per rank and ranks. Throws Error
/// if dataset and model do not fit.
train::Job job_from(const recipe::Recipe& recipe, const data::Dataset& dataset, int threads, int ranks);

}  // namespace convoke::app
