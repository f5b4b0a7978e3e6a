#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace convoke::metrics {

/// A file that grows during a run. Bytes have reached the kernel when append() returns.
class GrowingFile {
 public:
  /// Opens `file` to append, creating it if necessary. Throws Error naming the file.
  explicit GrowingFile(std::filesystem::path file);

  /// Throws Error naming the file if the bytes could not be written completely (disk full). The file then is
  /// as before, and the call may be repeated.
  void append(std::string_view bytes);

  const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  std::filesystem::path file_;
  std::unique_ptr<std::FILE, Close> stream_;
};

/// Cuts off an unfinished last line, which a killed run or a full disk leaves. Returns true if the
/// file is not empty then. Throws Error naming the file.
bool drop_unfinished_line(const std::filesystem::path& file);

}  // namespace convoke::metrics
