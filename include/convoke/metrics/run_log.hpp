#pragma once
#include <filesystem>

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

  const std::filesystem::path& file() const { return file_.file(); }

 private:
  GrowingFile file_;
};

}  // namespace convoke::metrics
