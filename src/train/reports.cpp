#include "convoke/train/reports.hpp"

#include "convoke/train/records.hpp"

namespace convoke::train {

void Reports::step_done(std::int64_t step, std::int64_t steps, const metrics::ProgressFields& fields) const {
  progress.update(step, fields);
  if (status == nullptr) return;
  status->publish({.title = title,
                   .epoch = fields.epoch,
                   .epochs = fields.epochs,
                   .step = step,
                   .steps = steps,
                   .loss = fields.loss,
                   .accuracy = fields.accuracy,
                   .images_per_second = fields.images_per_second});
}

void Reports::epoch_done(std::int64_t member, std::int64_t updates,
                         const metrics::EpochFields& fields) const {
  progress.epoch_line(fields);
  if (log) log(epoch_record(member, updates, fields));
}

RunLogs::RunLogs(const Job& job, const run::RunFolder& folder) : lines_(folder.metrics()) {
  if (job.log.csv) csv_.emplace(folder.file("metrics.csv"));
}

void RunLogs::append(const Settings& record) {
  lines_.append(record);
  if (csv_) csv_->append(record);
}

}  // namespace convoke::train
