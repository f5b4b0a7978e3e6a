#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The loaders of training and validation samples.
struct DataLoaders {
  DataLoaders(const data::BatchLoader& training_samples,  // NOLINT: a conversion
              const data::BatchLoader* validation_samples = nullptr)
      : training(training_samples), validation(validation_samples) {}

  const data::BatchLoader& training;
  const data::BatchLoader*
      validation;  ///< a separate validation split for all members; null: Job::validation_split
};

/// Returns the ids of all samples of a split.
std::vector<std::uint32_t> all_ids(const data::Split& split);

/// Returns the samples of a member: a fraction of its shard for training, and what its shard holds out, or
/// all of a separate split, for validation. A pure function.
data::Holdout samples_of(const Job& job, const DataLoaders& loaders, std::int64_t member);

/// Throws Error on all ranks if the samples of a member that the job trains cannot be formed. Collective.
void require_samples(const Job& job, const DataLoaders& loaders, const mpi::Communicator& world);

/// Says how many groups the training samples have, and how far they keep shards and validation samples from
/// the sizes that the job asks for; no sentence if there are no groups.
std::vector<std::string> group_notes(const Job& job, const DataLoaders& loaders);

/// Returns the samples on which at least one member trains, in ascending order. A pure function.
std::vector<std::uint32_t> trained_samples(const Job& job, const DataLoaders& loaders);

/// Samples on which any mixture of members can be validated: none of them was used in training.
struct CommonValidation {
  const data::BatchLoader& loader;
  std::vector<std::uint32_t> ids;
};

/// Returns a separate validation split, or the training samples that members hold out, in ascending order: no
/// member trains on what another one holds out. They may be empty. A pure function.
CommonValidation common_validation(const Job& job, const DataLoaders& loaders);

}  // namespace convoke::train
