#include "convoke/metrics/run_log.hpp"

#include "convoke/metrics/json.hpp"

namespace convoke::metrics {
namespace {

const std::filesystem::path& without_unfinished_line(const std::filesystem::path& file) {
  drop_unfinished_line(file);
  return file;
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& file) : file_(without_unfinished_line(file)) {}

void RunLog::append(const Settings& record) { file_.append(to_json(record) + '\n'); }

}  // namespace convoke::metrics
