#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "convoke/os/clock.hpp"
#include "convoke/os/thread.hpp"
#include "convoke/run/stopping.hpp"

namespace convoke::run {

/// The progress of a run as status.json in its folder reports it to other programs.
struct RunStatus {
  std::string title;       ///< "mnist-ensemble member 2/4"
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t step = 0;  ///< since the start of the training
  std::int64_t steps = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< mean over the epoch so far
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  double images_per_second = 0;
  double eta_seconds = std::numeric_limits<double>::quiet_NaN();       ///< until this model is trained
  double job_seconds_left = std::numeric_limits<double>::quiet_NaN();  ///< of the run's Slurm job
};

/// Writes status.json from a thread every two seconds if the status has changed. A failed write is ignored,
/// so that it cannot end the run.
class StatusWriter {
 public:
  /// `job_end`: end of the Slurm job; empty: no job, or no limit.
  StatusWriter(std::filesystem::path file, Deadline job_end);
  ~StatusWriter();  ///< writes the last status
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  /// The ETA is computed from the first status of the same title. Cheap enough for every step.
  void publish(const RunStatus& status);

 private:
  void write_news();

  struct Mark {
    std::string title;
    std::int64_t step;
    os::Stopwatch since;
  };
  std::filesystem::path file_;
  Deadline job_end_;
  std::mutex mutex_;
  std::optional<RunStatus> news_;
  std::optional<Mark> first_;
  std::optional<os::PeriodicThread> writer_;  // declared last: it starts when the other members exist
};

/// Reads status.json; empty if it does not exist or cannot be read.
std::optional<RunStatus> read_status(const std::filesystem::path& file);

}  // namespace convoke::run
