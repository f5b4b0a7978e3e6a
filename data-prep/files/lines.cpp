#include "files/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {

bool Lines::fill() {
  constexpr std::size_t kBufferBytes = 1U << 16;
  buffer_.resize(kBufferBytes);
  buffer_.resize(bytes_->read_some(read_, std::as_writable_bytes(std::span(buffer_))));
  read_ += buffer_.size();
  at_ = 0;
  return !buffer_.empty();
}

bool Lines::next(std::string& line) {
  constexpr std::size_t kMostBytes = 1U << 20;
  line.clear();
  if (at_ == buffer_.size() && !fill()) return false;
  for (;;) {
    const std::size_t end = std::min(buffer_.find('\n', at_), buffer_.size());
    line.append(buffer_, at_, end - at_);
    if (line.size() > kMostBytes) throw Error(fmt::format("{}: a line has more than 1 MiB", bytes_->name()));
    at_ = end;
    if (at_ < buffer_.size()) {
      ++at_;
      break;
    }
    if (!fill()) break;
  }
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

}  // namespace convoke::data_prep
