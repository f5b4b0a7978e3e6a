#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::metrics {

/// The output for progress, and its clock.
struct Console {
  std::function<void(std::string_view)> write;
  std::function<double()> now;  ///< seconds from any start
  std::function<int()> width;   ///< columns of the terminal; 0: no terminal, write plain lines
};

/// Returns the console of standard error. A pipe to an mpirun whose own standard error is a terminal counts
/// as this terminal.
Console standard_error();

/// Returns the first `columns` characters of UTF-8 text.
std::string_view first_columns(std::string_view text, std::size_t columns);

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
