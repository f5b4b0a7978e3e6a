#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoke/os/stop_signals.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/energy_meter.hpp"
#include "convoke/study/running/launch.hpp"
#include "convoke/study/running/spin_loops.hpp"
#include "convoke/study/running/study_folder.hpp"

namespace convoke::study {

/// What runs are made with.
struct Surroundings {
  std::string program;         ///< convoke
  std::vector<int> cores;      ///< of this host, for spin loops
  std::int64_t all_cores = 1;  ///< that ranks may have; on a cluster those of all nodes
  LaunchWish wish;
};

/// What became of a run.
struct RunOutcome {
  Measurement measurement;
  double seconds = 0;      ///< of the run, its start included
  double slowdown = 0;     ///< of the spin loops before or after it, the larger: 0.3 for 30 %
  double correction = 0;   ///< their calibration was found to be so much too slow
  std::string failure;     ///< why it failed; empty: it did not
  int interrupted_by = 0;  ///< the signal for which it was ended; 0: it was not
};

/// Makes runs of cells, one after the other: `convoke train` by mpirun, between spin loops.
class CellRunner {
 public:
  /// `study` and `folder` must outlive it.
  CellRunner(const StudyFile& study, const StudyFolder& folder, Surroundings surroundings);

  /// Calibrates the spin loops for the numbers of cores that `cells` use.
  void calibrate(const std::vector<Configuration>& cells);

  /// Run number `repeat` of `cell`, which is made anew whatever is left of an earlier one. Calls `meanwhile`
  /// several times a second. Marks it failed, oversubscribed, disturbed, or "bindings differ" where it was
  /// bound otherwise than the cell's first run. Ended by a signal (os::StopSignals), it leaves nothing.
  RunOutcome run(const Configuration& cell, std::int64_t repeat, const std::function<void()>& meanwhile);
  /// A run into `output` that does not count, and leaves nothing but, if it fails, its log beside that. "" or
  /// why it failed.
  std::string warm_up(const Configuration& cell, const std::filesystem::path& output,
                      const std::function<void()>& meanwhile);

  bool oversubscribes(const Configuration& cell) const;
  /// Of all that it has made, warm-ups included.
  double run_seconds() const { return run_seconds_; }

 private:
  std::int64_t busy(const Configuration& cell) const;
  std::vector<std::string> command(const Configuration& cell, std::int64_t repeat,
                                   const std::filesystem::path& output) const;
  std::string first_bindings(const Configuration& cell, std::int64_t but) const;

  const StudyFile& study_;
  const StudyFolder& folder_;
  Surroundings surroundings_;
  SpinLoops loops_;
  EnergyMeter energy_;
  double run_seconds_ = 0;
};

}  // namespace convoke::study
