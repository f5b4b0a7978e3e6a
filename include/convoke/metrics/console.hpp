#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
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

/// The fields of a progress line, in addition to percentage and remaining time (ETA), or of the line at the
/// end of an epoch; NaN and 0 are left out, infinity is written as "not finite".
struct EpochFields {
  std::int64_t epoch = 0;  ///< begins at 1
  std::int64_t epochs = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  double validation_objective = std::numeric_limits<double>::quiet_NaN();  ///< if it is not the loss
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();
  double learning_rate = std::numeric_limits<double>::quiet_NaN();  ///< of the last step; for the log only
  double images_per_second = 0;
  double seconds = 0;
};
using ProgressFields = EpochFields;  ///< of an epoch that has not ended

/// Shows the progress of a run: on a terminal in one line, redrawn at most ten times per second, below those
/// of finished epochs; elsewhere one line per epoch and at most one every 30 seconds. Never throws: the
/// display must not end a run.
class Progress {
 public:
  /// `active`: true at rank 0 unless the run is quiet; if false, does not write.
  Progress(std::string title, std::int64_t total_steps, bool active);
  Progress(std::string title, std::int64_t total_steps, Console console);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows that `step` of total_steps are done. Cheap enough for every step.
  void update(std::int64_t step, const ProgressFields& fields) noexcept;
  void epoch_line(const EpochFields& fields) noexcept;
  /// Writes another line above the live one.
  void note(std::string_view text) noexcept;
  /// Writes "warning: ..." above the live line; on standard error if progress is not shown.
  void warn(std::string_view text) noexcept;
  /// Removes the live line. May be called twice.
  void finish() noexcept;

 private:
  struct Mark {
    std::int64_t step;
    double seconds;
  };
  std::string line(std::int64_t step, const ProgressFields& fields, double now) const;
  void keep(const std::string& text);  // writes a line that stays

  std::string title_;
  std::int64_t total_steps_;
  std::optional<Console> console_;  // null: silent
  std::optional<Mark> start_;  // the first update, from which the ETA counts: a resumed run starts midway
  double next_ = 0;            // earliest time of the next line
  bool live_ = false;          // a line that will be redrawn is on the terminal
};

}  // namespace convoke::metrics
