#pragma once
#include <filesystem>
#include <functional>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/growing_file.hpp"

namespace convoke::metrics {

/// metrics.jsonl: one JSON object per line, which has reached the kernel when append() returns.
class RunLog {
 public:
  /// Opens `file` to append, creating it if necessary; drops a last line that an interrupted run left
  /// unfinished. Throws Error naming the file.
  explicit RunLog(const std::filesystem::path& file);

  /// Throws Error naming the file if the line could not be written completely (disk full).
  void append(const Settings& record);
  /// Removes lines; the file is replaced atomically if there are any. Throws Error naming the file, also if a
  /// line is damaged.
  void remove_if(const std::function<bool(const Settings&)>& unwanted);

  const std::filesystem::path& file() const { return file_.file(); }

 private:
  GrowingFile file_;
};

}  // namespace convoke::metrics
