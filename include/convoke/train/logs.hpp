#pragma once
#include <optional>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/csv_log.hpp"
#include "convoke/metrics/run_log.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The logs of all members: metrics.jsonl and, if the job wants it, metrics.csv. Rank 0 alone writes them:
/// whole lines appended by several hosts are not safe on a network file system.
class RunLogs {
 public:
  /// Throws Error naming the file.
  RunLogs(const Job& job, const run::RunFolder& folder);

  /// A record of train/records.hpp. Throws Error naming the file that cannot be written.
  void append(const Settings& record);

 private:
  metrics::RunLog lines_;
  std::optional<metrics::CsvLog> csv_;
};

}  // namespace convoke::train
