#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "convoke/metrics/growing_file.hpp"

namespace convoke::metrics {

/// A number under a name that TensorBoard draws a curve of; "loss/train" stands beside "loss/validation".
struct Scalar {
  std::string tag;
  double value;  ///< kept in single precision
};

// TensorFlow's Event messages, as they stand in TFRecords
// (https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto), encoded as
// protocol buffers (https://protobuf.dev/programming-guides/encoding/). Times are seconds since 1970.

/// What a file begins with.
std::string version_event(double wall_time);
/// A training that begins at `step`: what is there from this step on, in other files of the folder, is
/// forgotten.
std::string start_event(double wall_time, std::int64_t step);
/// Scalars after `step` steps.
std::string scalars_event(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

/// A file that TensorBoard reads. Several in one folder are one run, in the order of the times in their
/// names.
class EventFile {
 public:
  /// Makes a new "events.out.tfevents.<seconds>.<host>.<pid>" in `folder`, which is made if need be; its
  /// second is later than those of the files that are there. `resumed_at`: the steps that were done before,
  /// of which what is there stays. Throws Error naming it.
  explicit EventFile(const std::filesystem::path& folder, std::optional<std::int64_t> resumed_at = {});

  /// After `step` steps, now. On disk as far as the kernel is concerned when it returns. Throws Error naming
  /// the file (disk full).
  void append(std::int64_t step, std::span<const Scalar> scalars);

 private:
  GrowingFile file_;
};

}  // namespace convoke::metrics
