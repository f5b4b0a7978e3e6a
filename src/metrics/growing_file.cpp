#include "convoke/metrics/growing_file.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::metrics {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  const std::string hint = error == ENOSPC || error == EDQUOT
                               ? "free some space, or write to another --output"
                               : "choose a folder that you may write to with --output";
  throw Error("cannot write " + file.string() + ": " + std::strerror(error), hint);
}

}  // namespace

GrowingFile::GrowingFile(std::filesystem::path file) : file_(std::move(file)) {
  stream_.reset(std::fopen(file_.c_str(), "ab"));
  if (stream_ == nullptr) fail(file_, errno);
}

void GrowingFile::append(std::string_view bytes) {
  if (stream_ == nullptr) stream_.reset(std::fopen(file_.c_str(), "ab"));
  if (stream_ == nullptr) fail(file_, errno);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file_, unknown);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stream_.get()) == bytes.size();
  if (written && std::fflush(stream_.get()) == 0) return;
  const int error = errno;
  stream_.reset();  // the stream keeps what it could not write, and would write it twice
  if (!unknown) std::filesystem::resize_file(file_, size, unknown);
  fail(file_, error);
}

bool drop_unfinished_line(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  const std::string text = read_text(file).value_or("");
  const std::size_t end = text.rfind('\n') + 1;  // npos + 1 is 0
  if (end == text.size()) return end > 0;
  std::filesystem::resize_file(file, end, error);
  if (error) fail(file, error.value());
  return end > 0;
}

}  // namespace convoke::metrics
