#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "convoke/run/run_folder.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// The folder of a study (docs/formats.md): study.toml, recipes/, measurements.csv, calibration/, runs/.
class StudyFolder {
 public:
  /// Creates `output`, or if that is empty, studies/<name>-<time>. With `resume`, `output` must be the folder
  /// of the same study: its name, recipes and [set] must be unchanged; axes, repeats and budget may grow.
  /// Throws Error naming the difference.
  static StudyFolder create(const StudyFile& study, const std::filesystem::path& output, bool resume);
  /// Opens an existing folder, for a run of the study in a separate job.
  static StudyFolder open(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path study_file() const { return path_ / "study.toml"; }
  std::filesystem::path measurements() const { return path_ / "measurements.csv"; }
  /// The folder of a run, which may not exist.
  std::filesystem::path run_at(const Coordinates& configuration, std::int64_t repeat) const;
  std::filesystem::path run(const Configuration& configuration, std::int64_t repeat) const;
  /// The folder of a run's warm-up; removed after the warm-up.
  std::filesystem::path warm_up(const Configuration& configuration, std::int64_t repeat) const;
  /// The output of a run: runs/<configuration>-<repeat>.log.
  std::filesystem::path log(const Configuration& configuration, std::int64_t repeat) const;
  /// The measurement of a run in a separate job: runs/<configuration>-<repeat>.csv.
  std::filesystem::path row(const Configuration& configuration, std::int64_t repeat) const;
  /// The calibration of spin loops on this host.
  std::filesystem::path calibration() const;

  /// Reads measurements.csv; empty if it does not exist yet.
  std::vector<Measurement> read() const;

  /// Locks the folder for this process; throws Error if another process holds the lock.
  void lock() { lock_ = std::make_shared<run::RunLock>(path_); }
  /// Locks a run as long as the result exists; throws Error if another process makes this run. The lock is a
  /// folder beside that of the run, which the ranks lock.
  std::shared_ptr<const run::RunLock> lock_run(const Configuration& configuration, std::int64_t repeat) const;

 private:
  explicit StudyFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::shared_ptr<run::RunLock> lock_;
};

}  // namespace convoke::study
