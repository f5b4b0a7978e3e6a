#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/run/straggler.hpp"
#include "convoke/train/verdict.hpp"

namespace convoke::train {

/// The cost of a run.
struct Cost {
  int ranks = 1;
  int threads = 1;                          ///< of each rank (the largest number if they differ)
  int all_threads = 1;                      ///< worker threads of all ranks together
  int cores = 1;                            ///< distinct physical cores of all ranks
  std::string placement;                    ///< where the ranks run, in words
  double makespan_seconds = 0;              ///< from a barrier before loading to a barrier after the verdict
  std::vector<run::RankTimes> rank_times;   ///< by rank
  std::optional<run::Straggler> straggler;  ///< the rank that the others waited for, if there was one
  run::FeatureUse features;                 ///< sum over all ranks
  run::CheckpointUse checkpoints;           ///< over all ranks
  engine::VerificationUse verification;     ///< of the group and the rank with the largest numbers
  double other_programs = 0;                ///< their share of the cores, 0 to 1; NaN if unknown
  std::uint64_t peak_resident_bytes = 0;    ///< of the largest rank
  std::uint64_t predicted_bytes = 0;        ///< prediction of peak_resident_bytes before the first step

  run::Spread steps() const { return run::spread_of(rank_times, &run::RankTimes::steps); }
  double core_seconds() const { return makespan_seconds * cores; }
  bool oversubscribed() const { return all_threads > cores; }
};

/// Measures the cost. `others`: measures from the start of the makespan on. Collective. `makespan_seconds`:
/// of this rank, measured right after a barrier; `threads`: as requested, 0: each rank's share of the cores.
Cost cost_of(double makespan_seconds, const run::Machine& machine, int threads, const run::Phases& phases,
             const run::OtherPrograms& others, const mpi::Communicator& world,
             std::uint64_t predicted_bytes = 0);

/// Returns the content of summary.json; its keys are in docs/run-folder.md.
Settings summary(const Job& job, const Verdict& verdict, const Cost& cost);

/// True if the run of the verdict was finished before and this session trained nothing. `earlier`: the
/// content of the summary.json that the run had.
bool was_finished(const Settings& earlier, const Verdict& verdict);

/// Returns the summary with the cost that `earlier` states: ranks, times, memory and what explains them.
Settings with_cost_of(const Settings& earlier, const Settings& summary);

/// Fills in what the content of summary.json states about the training of a member.
void add_member_facts(const Settings& summary, TrainedMember& member);

/// Returns the summary as text with units: a block of lines and the classification report.
std::string summary_text(const Job& job, const Verdict& verdict, const Cost& cost);

}  // namespace convoke::train
