#pragma once
#include <unistd.h>

#include <string>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/collective.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/member_exchange.hpp"
#include "support/tiny.hpp"

// Training of tiny models, on all ranks or on one.
namespace tiny {

namespace mpi = convoke::mpi;
namespace run = convoke::run;
namespace train = convoke::train;
namespace data = convoke::data;

/// A run folder of all ranks, removed at the end.
class Run {
 public:
  explicit Run(const mpi::Communicator& world, const std::string& name = "run")
      : world_(world),
        folder(run::RunFolder::create("",
                                      run::on_root(world,
                                                   [&] {
                                                     return (fs::temp_directory_path() /
                                                             ("convoke-" + name + std::to_string(::getpid())))
                                                         .string();
                                                   }),
                                      true, world)) {}
  ~Run() {
    world_.barrier();
    if (world_.root()) fs::remove_all(folder.path());
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

 private:
  mpi::Communicator world_;

 public:
  run::RunFolder folder;
};

/// The result of this rank's group.
struct Result {
  train::Training training;
  run::Phases phases;

  /// Those of this group's first member, or another.
  std::vector<float> parameters(std::size_t member = 0) const {
    const std::span<const float> values = training.members.at(member).parameters();
    return {values.begin(), values.end()};
  }
};

/// Trains all members of the job on the ranks of `world`. Collective.
inline Result train_all(const train::Job& job, const train::DataLoaders& loaders,
                        const mpi::Communicator& world, const run::RunFolder& folder, bool resume = false) {
  const train::Groups groups = train::split(world, job.ensemble.members);
  Result result;
  result.training = train::train_members(job, loaders, groups, world, folder, resume, true, result.phases);
  return result;
}

inline Result train_all(const train::Job& job, const Pictures& pictures, const mpi::Communicator& world,
                        const run::RunFolder& folder, bool resume = false) {
  const data::BatchLoader loader = pictures.loader(job.augmenter);
  return train_all(job, train::DataLoaders(loader), world, folder, resume);
}

inline Result train_all(const train::Job& job, const Pictures& pictures, const mpi::Communicator& world) {
  const Run run(world, "run-" + std::to_string(world.rank()) + "-");
  return train_all(job, pictures, world, run.folder);
}

/// Returns the parameters of training on one rank, on all ranks. Collective.
inline std::vector<float> alone(const train::Job& job, const Pictures& pictures,
                                const mpi::Communicator& world) {
  const mpi::Communicator self = world.split(world.rank(), 0);
  std::vector<float> parameters(
      convoke::engine::canonical_values(convoke::engine::canonical_parameters(job.model.graph)));
  run::on_root(world, [&] { parameters = train_all(job, pictures, self).parameters(); });
  world.broadcast(std::as_writable_bytes(std::span(parameters)));
  return parameters;
}

/// Returns the canonical parameters of all members that the ranks of `world` have trained, in the order of
/// the members, on all ranks. Collective.
inline std::vector<std::vector<float>> parameters_of_all(const train::Training& training,
                                                         const train::Job& job,
                                                         const mpi::Communicator& world) {
  const auto all = train::list_members(training.members, train::split(world, job.ensemble.members), world);
  std::vector<const train::TrainedMember*> voters;
  for (const train::TrainedMember& member : all) voters.push_back(&member);
  train::MemberExchange exchange(
      voters, training.members,
      convoke::engine::canonical_values(convoke::engine::canonical_parameters(job.model.graph)), world);
  std::vector<std::vector<float>> parameters;
  for (std::size_t m = 0; m < all.size(); ++m) {
    const std::span<const float> values = exchange.bring_to_all(m);
    parameters.emplace_back(values.begin(), values.end());
  }
  return parameters;
}

}  // namespace tiny
