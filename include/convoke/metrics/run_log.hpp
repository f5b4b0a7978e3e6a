#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "convoke/core/settings.hpp"

// The files to which a run appends its measurements.

namespace convoke::metrics {

/// A file that grows during a run. Bytes have reached the kernel when append() returns.
class GrowingFile {
 public:
  /// Opens `file` to append, creating it if necessary. Throws Error naming the file.
  explicit GrowingFile(std::filesystem::path file);

  /// Throws Error naming the file if the bytes could not be written completely (disk full). The file then is
  /// as before, and the call may be repeated.
  void append(std::string_view bytes);

  const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  std::filesystem::path file_;
  std::unique_ptr<std::FILE, Close> stream_;
};

/// metrics.jsonl: one JSON object per line. A last line that an interrupted run left unfinished is dropped.
class RunLog {
 public:
  /// Opens `file` to append, creating it if necessary. Throws Error naming the file.
  explicit RunLog(const std::filesystem::path& file);

  /// Throws Error naming the file if the line could not be written completely (disk full).
  void append(const Settings& record);
  /// Removes lines; the file is replaced atomically if there are any. Throws Error naming the file, also if a
  /// line is damaged.
  void remove_if(const std::function<bool(const Settings&)>& unwanted);

 private:
  GrowingFile file_;
};

/// metrics.csv: the measurements during training, a line for each record, for spreadsheets and data frames.
class CsvLog {
 public:
  /// Opens `file` to append, like RunLog; a new file begins with the names of the columns. Throws Error
  /// naming the file, also if it has other columns.
  explicit CsvLog(const std::filesystem::path& file);

  /// Appends a line with the numbers of the record; missing ones are empty. A record without a loss is
  /// ignored. Throws Error naming the file if the line could not be written completely.
  void append(const Settings& record);
  /// Removes lines, as RunLog does; `unwanted` gets the whole numbers of a line, such as "member" and "step".
  void remove_if(const std::function<bool(const Settings&)>& unwanted);

 private:
  GrowingFile file_;
};

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
