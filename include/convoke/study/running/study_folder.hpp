#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/run/run_lock.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// What a study leaves behind, docs/formats.md: study.toml, recipes/, measurements.csv, calibration/, runs/.
class StudyFolder {
 public:
  /// Makes `output` or, if that is empty, studies/<name>-<time>. A folder that holds anything is used again
  /// only if `resume`, and only for the same study: its recipes and [set] must be what they were; axes,
  /// repeats and budget may grow. Throws Error saying what differs.
  static StudyFolder create(const StudyFile& study, const std::filesystem::path& output, bool resume);
  /// One that is there, for a run of it in a job of its own.
  static StudyFolder open(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path study_file() const { return path_ / "study.toml"; }
  std::filesystem::path measurements() const { return path_ / "measurements.csv"; }
  /// Of a run, which may not be there.
  std::filesystem::path run(const Configuration& cell, std::int64_t repeat) const;
  /// Of a run before it that does not count; gone when that has ended.
  std::filesystem::path warm_up(const Configuration& cell, std::int64_t repeat) const;
  /// What a run has printed: runs/<cell>-<repeat>.log.
  std::filesystem::path log(const Configuration& cell, std::int64_t repeat) const;
  /// What a run in a job of its own was measured to take: runs/<cell>-<repeat>.csv.
  std::filesystem::path row(const Configuration& cell, std::int64_t repeat) const;
  /// Of spin loops on this host.
  std::filesystem::path calibration() const;

  /// measurements.csv; nothing if there is none yet.
  std::vector<Measurement> read() const;

  /// Holds the folder for this process; throws Error if another one has it.
  void lock() { lock_ = std::make_shared<run::RunLock>(path_); }

 private:
  explicit StudyFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::shared_ptr<run::RunLock> lock_;
};

}  // namespace convoke::study
