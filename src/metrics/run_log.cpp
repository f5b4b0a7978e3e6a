#include "convoke/metrics/run_log.hpp"

#include "convoke/metrics/json.hpp"

namespace convoke::metrics {
namespace {

const std::filesystem::path& mended(const std::filesystem::path& file) {
  drop_unfinished_line(file);
  return file;
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& file) : file_(mended(file)) {}

void RunLog::append(const Settings& record) { file_.append(to_json(record) + '\n'); }

}  // namespace convoke::metrics
