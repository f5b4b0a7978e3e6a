#pragma once
#include <algorithm>
#include <cmath>
#include <csignal>
#include <string>
#include <vector>

#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/member_exchange.hpp"
#include "support/shared_folder.hpp"
#include "support/tiny.hpp"

// Training of tiny models, on all ranks or on one.
namespace tiny {

namespace mpi = convoke::mpi;
namespace run = convoke::run;
namespace train = convoke::train;
namespace data = convoke::data;

/// A run folder of all ranks, removed at the end.
struct Run {
  explicit Run(const mpi::Communicator& world, const std::string& name = "run")
      : place(world), folder(run::RunFolder::create("", place / name, true, world)) {}
  SharedFolder place;
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
  const Run run(world);
  return train_all(job, pictures, world, run.folder);
}

/// Returns the result of `action`, before which the last rank of `world` is asked to stop. Afterwards none is
/// asked. Collective.
template <class Action>
auto interrupted(const mpi::Communicator& world, const Action& action, int signal = SIGUSR1) {
  const auto asked = [&] {
    const convoke::os::StopSignals signals;
    world.barrier();
    if (world.rank() == world.size() - 1) std::raise(signal);
    return action();
  };
  auto result = asked();
  const convoke::os::StopSignals forget;
  return result;
}

/// The accuracy and the mean loss of a model.
struct PlainScore {
  double accuracy = 0, loss = 0;
};

/// Returns those of graph() on the pictures from `first` on, by a plain loop over its outputs.
inline PlainScore plain_score(std::span<const float> parameters, const Pictures& pictures,
                              std::uint32_t first = 0) {
  convoke::engine::Evaluator evaluator(graph(), {.threads = 1, .chunk = 1});
  evaluator.load(parameters);
  std::vector<std::uint32_t> ids = pictures.ids();
  ids.erase(ids.begin(), ids.begin() + first);
  const std::vector<float> rows = evaluator.predict(pictures.loader(), ids);
  PlainScore score;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const float* row = rows.data() + 4 * i;
    const std::int32_t label = pictures.labels[ids[i]];
    score.accuracy += std::max_element(row, row + 4) - row == label ? 1 : 0;
    score.loss -= std::log(std::max(1e-7, static_cast<double>(row[label])));
  }
  const auto count = static_cast<double>(ids.size());
  return {score.accuracy / count, score.loss / count};
}

/// Returns the parameters of training on one rank, on all ranks. Collective.
inline std::vector<float> alone(const train::Job& job, const Pictures& pictures,
                                const mpi::Communicator& world) {
  const mpi::Communicator self = world.split(world.rank(), 0);
  std::vector<float> parameters(
      convoke::engine::canonical_values(convoke::engine::canonical_parameters(job.model.graph)));
  mpi::on_root(world, [&] { parameters = train_all(job, pictures, self).parameters(); });
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
