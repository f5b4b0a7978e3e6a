#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "convoke/core/timeline.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::run {

/// Statistics of feature caches (train::FeatureCache) on this rank. Over all ranks the counts add up, the
/// seconds do not.
struct FeatureUse {
  std::int64_t computed = 0;    ///< samples that went through the frozen backbone
  std::int64_t read = 0;        ///< samples whose features were read; counted by the root of a group
  std::int64_t bytes = 0;       ///< largest size of the caches; counted by the root of a node
  std::int64_t file_bytes = 0;  ///< largest size of those that are in files
  double seconds = 0;           ///< spent computing, of the slowest rank; only in a sum over the ranks
  std::int64_t held = 0;        ///< size of the caches that exist now
  std::int64_t file_held = 0;   ///< of those that are in files

  /// Counts a cache of `change` bytes when it is made, and of -`change` bytes when it is freed.
  void hold(std::int64_t change, bool in_file) {
    held += change;
    if (in_file) file_held += change;
    bytes = std::max(bytes, held);
    file_bytes = std::max(file_bytes, file_held);
  }
  bool any() const { return computed > 0; }
  /// The share of the samples read that did not have to be computed.
  double hit_rate() const {
    return read == 0 ? 0 : 1 - static_cast<double>(std::min(computed, read)) / static_cast<double>(read);
  }
};

/// Sums the counts over the ranks, and takes the maximum of `seconds`, the time that this rank computed
/// features. Collective.
FeatureUse sum_over_ranks(const FeatureUse& mine, double seconds, const mpi::Communicator& world);

/// Statistics of checkpoints on this rank. Over all ranks the counts add up, the seconds do not.
struct CheckpointUse {
  std::int64_t written = 0;      ///< files, including models of the best validations
  std::int64_t left_out = 0;     ///< skipped: the previous one was still being written, or the disk was full
  std::int64_t failed = 0;       ///< checkpoints that the run folder did not take
  std::int64_t in_fallback = 0;  ///< of these, those that are in the fallback folder
  double longest_wait = 0;       ///< seconds that training waited for a copy of its state
  double longest_writing = 0;    ///< seconds, in parallel to training
};

/// Sums the counts over the ranks, and takes the maximum of the seconds. Collective.
CheckpointUse sum_over_ranks(const CheckpointUse& mine, const mpi::Communicator& world);

/// How this rank spends the time of a run: what its threads did, and what explains it.
struct Phases {
  /// `events`: as for Timeline.
  explicit Phases(std::size_t events = 0) : timeline(std::make_unique<Timeline>(events)) {}

  std::unique_ptr<Timeline> timeline;  ///< never null; does not move with the phases
  FeatureUse features;
  CheckpointUse checkpoints;
  engine::VerificationUse verification;
  double first_step = 0;     ///< seconds from the construction of this object to the first training step
  std::int64_t samples = 0;  ///< training samples that this rank processed
  double clock_ghz = 0;      ///< of a busy core, right after training; 0: not measured

  os::Stopwatch since_start;
};

/// The phases of one rank in seconds, and what explains them. Plain values, which ranks send to each other.
struct RankTimes {
  double load = 0;
  double steps = 0;                  ///< within training steps; the next three are parts of it
  double data = 0;                   ///< assembling samples, on the main thread
  double update = 0;                 ///< in the optimizer
  double exposed_communication = 0;  ///< waiting for other ranks
  double evaluation = 0;
  double gather = 0;
  double checkpoint = 0;
  double core_share = 1;  ///< of compute(): the share in which the main thread had a core (Track::core_share)
  double first_step = 0;  ///< as in Phases, like the next two
  double samples = 0;
  double clock_ghz = 0;

  /// Steps without the waiting.
  double compute() const { return steps - exposed_communication; }
  /// The forward and backward passes, the loss, and waiting for other threads of the rank.
  double passes() const { return compute() - data - update; }
};

RankTimes times_of(const Phases& phases);

/// A row of the table of phases. Rows of a deeper level are parts of the last row above that is less deep.
struct Phase {
  const char* key;   ///< in summary.json
  const char* name;  ///< for people
  int level;
  double (*seconds)(const RankTimes&);
};
inline constexpr std::array kPhases{
    Phase{"load", "load", 0, [](const RankTimes& t) { return t.load; }},
    Phase{"steps", "training steps", 0, [](const RankTimes& t) { return t.steps; }},
    Phase{"compute", "compute", 1, [](const RankTimes& t) { return t.compute(); }},
    Phase{"data", "data", 2, [](const RankTimes& t) { return t.data; }},
    Phase{"passes", "forward, backward", 2, [](const RankTimes& t) { return t.passes(); }},
    Phase{"update", "update", 2, [](const RankTimes& t) { return t.update; }},
    Phase{"exposed_communication", "exposed communication", 1,
          [](const RankTimes& t) { return t.exposed_communication; }},
    Phase{"evaluation", "evaluation", 0, [](const RankTimes& t) { return t.evaluation; }},
    Phase{"gather", "gather", 0, [](const RankTimes& t) { return t.gather; }},
    Phase{"checkpoint", "checkpoints", 0, [](const RankTimes& t) { return t.checkpoint; }}};

/// Statistics of a time over the ranks, in seconds. The largest times of two phases may belong to different
/// ranks, so only means may be added up.
struct Spread {
  double max = 0, mean = 0, min = 0;
};
template <class Seconds>
Spread spread_of(std::span<const RankTimes> ranks, const Seconds& seconds) {
  Spread spread{.min = std::numeric_limits<double>::infinity()};
  for (const RankTimes& rank : ranks) {
    const double value = std::invoke(seconds, rank);
    spread.max = std::max(spread.max, value);
    spread.min = std::min(spread.min, value);
    spread.mean += value / static_cast<double>(ranks.size());
  }
  return spread;
}

/// Returns the exposed communication of all ranks as a share of their steps.
double exposed_share(std::span<const RankTimes> ranks);

}  // namespace convoke::run
