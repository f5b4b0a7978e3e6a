#pragma once
#include <filesystem>

#include "convoke/mpi/communicator.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::app {

/// The dataset that a recipe trains on: recipe::resolve_dataset, absolute. If that is no dataset but a source
/// of samples (a folder of pictures, an .npz, ...), it is prepared into the cache, ~/.cache/convoke/prepared,
/// by all ranks together, with pictures of the size that model.input says; once: the next run finds it there
/// as long as the source's files have not changed. Collective; throws Error on all ranks where the source or
/// the cache is unfit.
std::filesystem::path dataset_for(const recipe::Recipe& recipe, const mpi::Communicator& world);

}  // namespace convoke::app
