#include "convoke/train/logs.hpp"

namespace convoke::train {

RunLogs::RunLogs(const Job& job, const run::RunFolder& folder) : lines_(folder.metrics()) {
  if (job.log.csv) csv_.emplace(folder.file("metrics.csv"));
}

void RunLogs::append(const Settings& record) {
  lines_.append(record);
  if (csv_) csv_->append(record);
}

}  // namespace convoke::train
