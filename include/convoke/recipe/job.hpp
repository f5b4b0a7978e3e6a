#pragma once
#include "convoke/data/dataset.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/train/job.hpp"

namespace convoke::recipe {

/// Returns the engine options of a recipe with `threads` workers per rank.
engine::EngineOptions engine_options(const Recipe& recipe, int threads);

/// Converts a recipe to the trainer's job on this dataset, with this number of threads per rank and of ranks.
/// Throws Error if dataset and model do not fit. The job's resume fingerprint holds the keys that decide the
/// result.
train::Job job_from(const Recipe& recipe, const data::Dataset& dataset, int threads, int ranks);

}  // namespace convoke::recipe
