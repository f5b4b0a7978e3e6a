#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "convoke/os/clock.hpp"
#include "convoke/os/periodic_thread.hpp"
#include "convoke/run/stop_agreement.hpp"

namespace convoke::run {

/// How far a run is: what status.json in its folder says, for those who look from outside.
struct RunStatus {
  std::string title;       ///< "mnist-ensemble member 2/4"
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t step = 0;  ///< since the start of the training
  std::int64_t steps = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< of the epoch so far
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  double images_per_second = 0;
  double eta_seconds = std::numeric_limits<double>::quiet_NaN();       ///< of this model's training
  double job_seconds_left = std::numeric_limits<double>::quiet_NaN();  ///< of its Slurm job
};

/// Writes status.json: a thread does, every two seconds, if there is news. What cannot be written is left
/// out: a run must not end for being watched.
class StatusWriter {
 public:
  /// `job_end`: of the Slurm job; nothing: there is none, or no limit.
  StatusWriter(std::filesystem::path file, Deadline job_end);
  ~StatusWriter();  ///< writes the last news
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  /// The ETA follows from the first status of the same title. Cheap enough for every step.
  void publish(const RunStatus& status);

 private:
  void write_news();
  void write(RunStatus status) const;

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
  std::optional<os::PeriodicThread> writer_;  // last: it begins when the rest is there
};

/// What status.json says; nothing if there is none, or none that can be read.
std::optional<RunStatus> read_status(const std::filesystem::path& file);

}  // namespace convoke::run
