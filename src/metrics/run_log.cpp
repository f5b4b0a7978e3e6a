#include "convoke/metrics/run_log.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::metrics {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  const std::string hint = error == ENOSPC || error == EDQUOT
                               ? "free some space, or write to another --output"
                               : "choose a folder you may write to with --output";
  throw Error("cannot write " + file.string() + ": " + std::strerror(error), hint);
}

// A run that was killed, or whose disk was full, may have left half a line.
void drop_unfinished_line(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t end = text.rfind('\n') + 1;  // npos + 1 is 0
  if (end == text.size()) return;
  std::filesystem::resize_file(file, end, error);
  if (error) fail(file, error.value());
}

}  // namespace

RunLog::RunLog(std::filesystem::path file) : file_(std::move(file)) {
  drop_unfinished_line(file_);
  stream_.reset(std::fopen(file_.c_str(), "ab"));
  if (stream_ == nullptr) fail(file_, errno);
}

void RunLog::append(const Settings& record) {
  const std::string line = to_json(record) + '\n';
  const bool written = std::fwrite(line.data(), 1, line.size(), stream_.get()) == line.size();
  if (!written || std::fflush(stream_.get()) != 0) fail(file_, errno);
}

}  // namespace convoke::metrics
