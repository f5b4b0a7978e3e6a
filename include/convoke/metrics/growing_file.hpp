#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace convoke::metrics {

/// A file that grows as a run goes on: bytes are on disk as far as the kernel is concerned when append()
/// returns.
class GrowingFile {
 public:
  /// Opens `file` to append, creating it if need be. Throws Error naming the file.
  explicit GrowingFile(std::filesystem::path file);

  /// Throws Error naming the file if not all could be written (disk full).
  void append(std::string_view bytes);

  const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  std::filesystem::path file_;
  std::unique_ptr<std::FILE, Close> stream_;
};

/// Cuts off a last line that a run which was killed, or whose disk was full, has left unfinished. Returns
/// whether anything is left. Throws Error naming the file.
bool drop_unfinished_line(const std::filesystem::path& file);

}  // namespace convoke::metrics
