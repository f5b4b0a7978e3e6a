#pragma once
#include <cstdint>
#include <string>

namespace convoke::run {

/// How often the state of training is kept: after so many epochs, steps or seconds. One of them is not 0; all
/// are: only at the end.
struct CheckpointInterval {
  std::int64_t epochs = 1;
  std::int64_t steps = 0;
  double seconds = 0;
  friend bool operator==(const CheckpointInterval&, const CheckpointInterval&) = default;

  /// Of "2", "2 epochs", "500 steps", "90 s", "10 min" or "1 h"; "0" is never. Throws Error.
  static CheckpointInterval from(const std::string& text);
  /// As from() reads it; "2" of epochs.
  std::string to_string() const;
};

/// Seconds of "90 s", "90s", "10 min", "1.5 h" or "90". Throws Error.
double seconds_from(const std::string& text);

}  // namespace convoke::run
