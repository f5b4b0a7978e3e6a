#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "convoke/data_prep/prepare.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::app {

/// The dataset that a recipe trains on: recipe::resolve_dataset, absolute. If that is not a dataset but a
/// source of samples (a folder of pictures, an .npz, ...), all ranks prepare it together in the cache,
/// ~/.cache/convoke/prepared, with pictures of the size in model.input. The next run uses the cached dataset
/// unless files of the source have changed. Collective; throws Error on all ranks if the source or the cache
/// is unusable.
std::filesystem::path dataset_for(const recipe::Recipe& recipe, const mpi::Communicator& world);

/// Runs data_prep::prepare on all ranks together, with progress; rank 0 then prints a report. Collective.
data_prep::PrepareReport prepare_source(data_prep::PrepareOptions options, const mpi::Communicator& world);

/// Returns "encoded pictures of 1.2 MB; their pixels are 16.1 times as many bytes (19.3 MB)".
std::string encoding_text(std::uint64_t encoded_bytes, std::uint64_t pixel_bytes);

}  // namespace convoke::app
