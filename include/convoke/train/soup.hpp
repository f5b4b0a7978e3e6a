#pragma once
#include <span>
#include <vector>

#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/evaluation.hpp"
#include "convoke/train/samples.hpp"

namespace convoke::train {

struct Groups;
struct TrainedMember;
struct Training;
struct Verdict;

/// Returns the sum of the members' canonical parameters, batch-norm statistics included, each times its
/// share: (values), the same on all ranks, and bit-identical however the members are spread over the ranks.
/// `mine`: the members that this rank contributes; each member comes from one rank only. `shares`: by number
/// of the member. Sends and keeps one model, whatever the number of members. Collective. Throws Error if a
/// parameter is not finite.
std::vector<float> average(std::span<const TrainedMember* const> mine, std::span<const double> shares,
                           std::size_t values, const mpi::Communicator& world);

/// Throws Error if the job wants a soup whose members lack the validation samples that it needs.
void require_soups(const Job& job, const DataLoaders& loaders);

/// Makes the soups `job.ensemble.soups` from the members of `verdict` that vote, where they were trained;
/// evaluates each on `test`, and writes each to soup-<name>.h5 in the folder. `loaders`: the samples of the
/// training, for a soup that makes trials; may be null otherwise. Collective.
std::vector<SoupOutcome> make_soups(const Job& job, const Training& training, const Verdict& verdict,
                                    const Groups& groups, const mpi::Communicator& world,
                                    const DataLoaders* loaders, const data::BatchLoader& test,
                                    engine::Evaluator& evaluator, const run::RunFolder& folder);

}  // namespace convoke::train
