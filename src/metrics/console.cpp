#include "convoke/metrics/console.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "convoke/os/clock.hpp"
#include "convoke/os/standard_output.hpp"

namespace convoke::metrics {

Console standard_error() {
  return {.write =
              [](std::string_view text) {
                std::fwrite(text.data(), 1, text.size(), stderr);
                std::fflush(stderr);
              },
          .now = [watch = os::Stopwatch()] { return watch.seconds(); },
          .width = [terminal = std::make_shared<os::Terminal>()] { return terminal->width(); }};
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && columns-- == 0) return text.substr(0, i);
  }
  return text;
}

void LiveBlock::clear() noexcept try {
  // Go to the first of the lines, and erase from there on.
  if (drawn_ > 0) console_.write(fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  drawn_ = 0;
} catch (...) {
}

void LiveBlock::draw(const std::vector<std::string>& lines) noexcept try {
  const int width = console_.width();
  if (width <= 0) return;
  std::string text = drawn_ > 0 ? fmt::format("\x1b[{}A\r\x1b[J", drawn_) : std::string();
  // The last column stays free: writing there makes some terminals wrap.
  for (const std::string& line : lines) {
    text += std::string(first_columns(line, static_cast<std::size_t>(width - 1))) + "\n";
  }
  console_.write(text);
  drawn_ = lines.size();
} catch (...) {
}

void LiveBlock::note(std::string_view line) noexcept try {
  clear();
  console_.write(std::string(line) + "\n");
} catch (...) {
}

}  // namespace convoke::metrics
