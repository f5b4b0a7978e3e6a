#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/energy_meter.hpp"
#include "convoke/study/running/spin_loops.hpp"
#include "convoke/study/running/study_folder.hpp"

namespace convoke::study {

/// Options of a launch.
struct LaunchOptions {
  bool bind = true;   ///< bind each rank to its own cores; otherwise the system decides
  bool srun = false;  ///< in a Slurm job: use srun with PMIx instead of mpirun
};

/// The command that starts the ranks.
struct Launch {
  std::vector<std::string> words = {};  ///< the launcher and its options
  bool oversubscribed = false;          ///< more threads than cores
};

/// Returns the launch of `ranks` ranks of `threads` threads on `cores` cores: each rank is bound to its own
/// neighboring cores, as `convoke doctor` advises; with too few cores, all ranks share all cores.
Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores,
                 LaunchOptions launch_options = {});

/// Returns the cores of this host that a study may use: those of its affinity, limited by the quota of the
/// control group. Sorted, by their first logical CPU.
std::vector<int> cores_here();

/// Returns the number of cores for ranks: of all nodes in a Slurm job, otherwise of this host.
std::int64_t cores_of_job();

/// The program and cores for runs.
struct RunEnvironment {
  std::string program;         ///< path of convoke
  std::vector<int> cores;      ///< of this host, for spin loops
  std::int64_t all_cores = 1;  ///< number of cores for ranks; on a cluster, of all nodes
  LaunchOptions launch_options;
};

/// The outcome of a run.
struct RunOutcome {
  Measurement measurement;
  double seconds = 0;     ///< of the run, including its start
  double slowdown = 0;    ///< of the spin loops before or after it, the larger: 0.3 for 30 %
  double correction = 0;  ///< relative error of their calibration that was found: 0.3 if it was 30 % too slow
  std::string failure;    ///< why it failed; empty: success
  int interrupted_by = 0;  ///< the signal that ended it; 0: none
};

/// Makes runs of configurations, one after the other: `convoke train` under mpirun, between spin loops. An
/// emulated run trains the members one after the other, each alone; `convoke gather` then lets them vote.
class ConfigurationRunner {
 public:
  /// `study` and `folder` must outlive it.
  ConfigurationRunner(const StudyFile& study, const StudyFolder& folder, RunEnvironment environment);

  /// Calibrates the spin loops for the numbers of cores that `configurations` use.
  void calibrate(const std::vector<Configuration>& configurations);

  /// Makes run number `repeat` of `configuration`, and replaces an earlier one. Calls `meanwhile` several
  /// times a second. Marks the run as failed, oversubscribed, contended, emulated, or "bindings differ" if
  /// its bindings differ from those of the configuration's first run. If it is ended by a signal
  /// (os::StopSignals), no files are left. Throws Error if another process makes the run.
  RunOutcome run(const Configuration& configuration, std::int64_t repeat,
                 const std::function<void()>& meanwhile);
  /// Makes a run in `output` that does not count; keeps no files, except the log next to that folder if it
  /// fails. Returns "" or why it failed.
  std::string warm_up(const Configuration& configuration, const std::filesystem::path& output,
                      const std::function<void()>& meanwhile);

  bool oversubscribes(const Configuration& configuration) const;
  /// True if the processor has energy counters that this process can read.
  bool measures_energy() const { return energy_.is_available(); }
  /// Sum over all runs that it made, including warm-ups.
  double run_seconds() const { return run_seconds_; }

 private:
  std::int64_t busy(const Configuration& configuration) const;
  Launch launch(const Configuration& configuration) const;
  /// How a process, or several one after the other, ended.
  struct End {
    int code = 0;
    int interrupted_by = 0;
    double seconds = 0;   ///< of all processes,
    double slowdown = 0;  ///< and the largest of the spin loops between them
  };
  std::vector<std::string> command(const Configuration& configuration, std::int64_t repeat,
                                   const std::filesystem::path& output, std::int64_t member = -1) const;
  End start(const std::vector<std::string>& words, const std::filesystem::path& output,
            const std::filesystem::path& log, const std::function<void()>& meanwhile);
  End train_one_by_one(const Configuration& configuration, std::int64_t repeat,
                       const std::filesystem::path& output, const std::filesystem::path& log,
                       const std::function<void()>& meanwhile);
  std::string first_bindings(const Configuration& configuration, std::int64_t but) const;

  const StudyFile& study_;
  const StudyFolder& folder_;
  RunEnvironment environment_;
  SpinLoops loops_;
  EnergyMeter energy_;
  double run_seconds_ = 0;
};

}  // namespace convoke::study
