#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "convoke/data/batch_loader.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/run/node_memory.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/supervise/watchdog.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/summary.hpp"
#include "convoke/train/verdict.hpp"

namespace convoke::recipe {

/// The result of a run.
struct Outcome {
  run::StopReason interrupted_by;         ///< a signal or the end of the job's time; no verdict in this case
  std::optional<train::Verdict> verdict;  ///< the models at rank 0, and their results on the test samples
  train::Cost cost;
  std::string provenance;  ///< of the test samples, from their dataset; may be empty
};

/// A recipe with its samples, ready for training by the ranks of a communicator. `convoke train` is a command
/// line around this class; a program that embeds Convoke needs only this:
///
///     const mpi::Session session;
///     const run::Machine machine = run::survey(session.world());
///     recipe::Run run(recipe::Recipe::load("recipe.toml"), session.world(), machine);
///     const auto folder = run::RunFolder::create(run.recipe().name, "", false, session.world());
///     const recipe::Outcome outcome = run.train(folder);
class Run {
 public:
  /// Opens the training samples (one copy per node) and makes the job. Collective over `world`, which
  /// `machine` describes. Throws Error if recipe, dataset and memory do not fit together; nothing has been
  /// written then.
  Run(Recipe recipe, const mpi::Communicator& world, const run::Machine& machine);

  const Recipe& recipe() const { return recipe_; }  ///< data.path is the path where the dataset was found
  const train::Job& job() const { return job_; }
  const data::Dataset& dataset() const { return dataset_; }
  train::DataLoaders loaders() const { return {loader_, validation_ ? &*validation_ : nullptr}; }
  /// The models of train.distill; empty without them, and once train() has used them.
  const std::optional<run::ModelSet>& teacher() const { return teacher_; }

  /// Trains the members, from their newest checkpoints if `resume`, lets them vote on the test samples, and
  /// writes everything except the page into `folder`; summary.json comes last and makes the run complete. A
  /// complete run that trains on loses it until then. `quiet`: print no progress. `seconds_before`: time of
  /// the process before this object was made, for the summary. `before`: what has watched the ranks until
  /// here. Collective. Throws the errors of train::train_members and train::gather_and_vote.
  Outcome train(const run::RunFolder& folder, bool resume = false, bool quiet = true,
                double seconds_before = 0, std::unique_ptr<supervise::Watchdog> before = nullptr);

 private:
  data::Dataset open_training_samples();
  void compute_soft_labels(const train::DataLoaders& loaders, const run::RunFolder& folder);

  mpi::Communicator world_, node_;
  run::Machine machine_;
  os::Stopwatch makespan_;
  run::OtherPrograms other_programs_;
  run::Phases phases_;
  Recipe recipe_;
  run::NodeStorage training_memory_;
  data::Dataset dataset_;
  train::Job job_;
  train::Groups groups_;
  data::BatchLoader loader_;
  std::optional<data::BatchLoader> validation_;
  std::optional<run::ModelSet> teacher_;
  std::optional<train::SoftLabels> soft_labels_;
  std::uint64_t predicted_bytes_ = 0;  ///< predicted memory of the largest rank
};

/// Writes evaluation.json, then summary.json, which makes the run complete. `tested`: the dataset of the
/// verdict; `test_seconds`: the time that its evaluation took, mean over the ranks. Call it on one rank.
/// Throws Error if a file cannot be written.
void write_summary(const run::RunFolder& folder, const Settings& summary, const train::Verdict& verdict,
                   const data::Dataset& tested, const std::string& test_split, double test_seconds);

}  // namespace convoke::recipe
