#pragma once
#include <memory>
#include <optional>

#include "convoke/data/dataset.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/initial_weights.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/train/job.hpp"

namespace convoke::recipe {

/// Returns the engine options of a recipe with `threads` workers per rank.
engine::EngineOptions engine_options(const Recipe& recipe, int threads);

/// Converts a recipe to the trainer's job on this dataset, with this number of threads per rank and of ranks.
/// Throws Error if dataset and model do not fit. The job's resume fingerprint holds the keys that decide the
/// result. Its initial weights are left out: see initial_weights().
train::Job job_from(const Recipe& recipe, const data::Dataset& dataset, int threads, int ranks);

/// Returns the weights that training starts from, for Job::weights; null if the recipe names none. Rank 0
/// reads the file. Collective. Throws Error if none of the weights fits `graph`.
std::shared_ptr<const run::InitialWeights> initial_weights(const Recipe& recipe, const nn::Graph& graph,
                                                           const mpi::Communicator& world);

/// Returns the models of train.distill, which rank 0 reads; empty if the recipe names none. Collective.
/// Throws Error if they do not fit the dataset, whose training split must be open.
std::optional<run::ModelSet> teacher_of(const Recipe& recipe, const data::Dataset& dataset,
                                        const mpi::Communicator& world);

/// Returns a sentence for the user if the job starts from weights that expect samples normalized in another
/// way: those of the model in the file if it says so, or else those of the zoo's published weights
/// (nn::zoo_normalization). Empty if there is nothing to say.
std::string normalization_note(const Recipe& recipe, const train::Job& job);

/// Returns a sentence for the user that names the nodes, frozen to the last epoch, whose weights keep random
/// initial values, since no file has them, or says that all nodes are frozen. Empty if there are none.
std::string frozen_note(const train::Job& job);

}  // namespace convoke::recipe
