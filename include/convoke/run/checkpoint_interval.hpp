#pragma once
#include <cstdint>
#include <string>

namespace convoke::run {

/// The interval between checkpoints, in epochs, steps or seconds. At most one of them is not 0; if all are 0,
/// a checkpoint is written only at the end.
struct CheckpointInterval {
  std::int64_t epochs = 1;
  std::int64_t steps = 0;
  double seconds = 0;
  friend bool operator==(const CheckpointInterval&, const CheckpointInterval&) = default;

  /// Parses "2", "2 epochs", "500 steps", "90 s", "10 min" or "1 h"; "0": never. Throws Error.
  static CheckpointInterval from(const std::string& text);
  /// Returns the text that from() parses; a plain "2" for epochs.
  std::string to_string() const;
};

/// Returns the seconds of "90 s", "90s", "10 min", "1.5 h" or "90". Throws Error.
double seconds_from(const std::string& text);

}  // namespace convoke::run
