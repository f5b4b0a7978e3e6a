#include "convoke/metrics/run_log.hpp"

#include <sstream>
#include <string>

#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"

namespace convoke::metrics {
namespace {

const std::filesystem::path& without_unfinished_line(const std::filesystem::path& file) {
  drop_unfinished_line(file);
  return file;
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& file) : file_(without_unfinished_line(file)) {}

void RunLog::append(const Settings& record) { file_.append(to_json(record) + '\n'); }

void RunLog::remove_if(const std::function<bool(const Settings&)>& unwanted) {
  const std::filesystem::path path = file();
  std::istringstream in(read_text(path).value_or(""));
  std::string kept;
  bool removed = false;
  for (std::string line; std::getline(in, line);) {
    if (unwanted(settings_from_json(line, path.string()))) {
      removed = true;
    } else {
      kept += line + '\n';
    }
  }
  if (!removed) return;
  os::replace_text(path, kept);
  file_ = GrowingFile(path);
}

}  // namespace convoke::metrics
