#include "convoke/metrics/console.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>

#include "convoke/os/terminal.hpp"

namespace convoke::metrics {
Console standard_error() {
  return {
      .write =
          [](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          },
      .now =
          [] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
          },
      .width = [terminal = std::make_shared<os::Terminal>()] { return terminal->width(); }};
}

}  // namespace convoke::metrics
