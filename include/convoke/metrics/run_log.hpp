#pragma once
#include <filesystem>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/growing_file.hpp"

namespace convoke::metrics {

/// metrics.jsonl: one JSON object per line, on disk as far as the kernel is concerned when append() returns.
class RunLog {
 public:
  /// Opens `file` to append, creating it if need be; a last line that an interrupted run left unfinished is
  /// dropped. Throws Error naming the file.
  explicit RunLog(const std::filesystem::path& file);

  /// Throws Error naming the file if not all of the line could be written (disk full).
  void append(const Settings& record);

  const std::filesystem::path& file() const { return file_.file(); }

 private:
  GrowingFile file_;
};

}  // namespace convoke::metrics
