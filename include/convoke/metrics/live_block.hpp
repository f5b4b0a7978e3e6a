#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "convoke/metrics/console.hpp"

namespace convoke::metrics {

/// Lines at the bottom of a terminal that are redrawn, below lines that stay. Without a terminal, only the
/// lines that stay are written. Never throws: the display must not end a run.
class LiveBlock {
 public:
  explicit LiveBlock(Console console) : console_(std::move(console)) {}
  ~LiveBlock() { clear(); }
  LiveBlock(const LiveBlock&) = delete;
  LiveBlock& operator=(const LiveBlock&) = delete;

  bool is_live() const { return console_.width() > 0; }
  /// Replaces the lines, which are cut to the terminal's width.
  void draw(const std::vector<std::string>& lines) noexcept;
  /// Writes a line that stays.
  void note(std::string_view line) noexcept;
  /// Removes the lines.
  void clear() noexcept;

 private:
  Console console_;
  std::size_t drawn_ = 0;  // lines
};

}  // namespace convoke::metrics
