#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "convoke/metrics/run_log.hpp"

namespace convoke::metrics {

/// A point of a curve in TensorBoard, which groups the tags "loss/train" and "loss/validation".
struct Scalar {
  std::string tag;
  double value;  ///< kept in single precision
};

// TensorFlow's Event messages for TFRecords
// (https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto), encoded as
// protocol buffers (https://protobuf.dev/programming-guides/encoding/). Times are seconds since 1970.

/// Returns the first event of a file.
std::string version_event(double wall_time);
/// Returns the event of a training that starts at `step`: TensorBoard ignores events of other files from this
/// step on.
std::string start_event(double wall_time, std::int64_t step);
/// Returns the event with the scalars after `step` steps.
std::string scalars_event(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

/// A file for TensorBoard. Several files in a folder are one run, in the order of the times in their names.
class EventFile {
 public:
  /// Creates "events.out.tfevents.<seconds>.<host>.<pid>" in `folder`, and the folder if necessary. Its
  /// second is later than those of existing files. `resumed_at`: the number of earlier steps, whose events
  /// remain. Throws Error naming the file.
  explicit EventFile(const std::filesystem::path& folder, std::optional<std::int64_t> resumed_at = {});

  /// Appends the values after `step` steps, with the current time. They have reached the kernel when it
  /// returns. Throws Error naming the file (disk full).
  void append(std::int64_t step, std::span<const Scalar> scalars);

 private:
  GrowingFile file_;
};

}  // namespace convoke::metrics
