#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/table/table_preparation.hpp"
#include "convoke/data_prep/traces/io_features.hpp"
#include "convoke/data_prep/traces/trace_files.hpp"
#include "convoke/os/file.hpp"
#include "preparation_json.hpp"
#include "sources/class_files.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

bool is_trace_name(const fs::path& file) {
  const std::string ending = lower_case(file.extension().string());
  return (ending == ".csv" || ending == ".txt") && !is_hidden(file) && !fs::is_directory(file);
}

bool is_trace(const fs::path& file, const ReadingOptions& options) {
  return is_darshan_dump(file) || is_request_csv(file, options);
}

// True if the first file with the ending of a trace is one. (A folder of texts may have thousands.)
bool holds_traces(const fs::path& folder, const ReadingOptions& options) {
  fs::path first;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_trace_name(entry.path()) && (first.empty() || entry.path() < first)) first = entry.path();
  }
  return !first.empty() && is_trace(first, options);
}

PathTest trace_folders(const ReadingOptions& options) {
  return [&options](const fs::path& folder) { return holds_traces(folder, options); };
}

// Returns the positions of the named features in kIoFeatureNames; all if none is named.
std::vector<std::size_t> selected_features(const std::vector<std::string>& names) {
  const std::vector<std::string> known(kIoFeatureNames.begin(), kIoFeatureNames.end());
  std::vector<std::size_t> selected;
  for (const std::string& name : names.empty() ? known : names) {
    const auto feature = std::find(known.begin(), known.end(), name);
    if (feature == known.end()) {
      throw Error(fmt::format("--features: I/O traces have no \"{}\"{}", name, did_you_mean(name, known)),
                  "known: " + join(known));
    }
    selected.push_back(static_cast<std::size_t>(feature - known.begin()));
  }
  return selected;
}

class IoTraces final : public Source {
 public:
  IoTraces(const fs::path& path, const SourceOptions& options)
      : options_(options),
        window_(window_from(options.traces.window)),
        features_(selected_features(options.columns.features)) {
    TablePreparation::check(options_.table);
    labels_in_file_ = !fs::is_directory(path) || !options.columns.label.empty();
    std::vector<std::string> class_names;
    if (fs::is_directory(path)) {
      const ClassFiles list =
          list_class_files(path, trace_folders(options.reading), is_trace_name, "traces",
                           "a dataset needs at least 2 classes, each a folder of traces: strided/, random/");
      for (const ClassFile& file : list.files) add_file(file);
      class_names = list.class_names;
    } else {
      add_file({.file = path, .name = path.filename().string(), .split = {}});
    }
    if (catalog_.items.empty()) throw Error(fmt::format("{}: has no requests", path.string()));
    name_classes(class_names, path);
    catalog_.notes.push_back(fmt::format("{} in {} of {}", counted(requests_, "request"),
                                         counted(std::ssize(catalog_.items), "window"), to_string(window_)));
    catalog_.assumptions.push_back({.what = "windows", .taken = to_string(window_), .option = "--window"});
    catalog_.assumptions.push_back(
        {.what = "labels",
         .taken = labels_in_file_ ? "a column of the CSVs" : "the names of the folders",
         .option = "--label-column"});
    catalog_.provenance =
        fmt::format("windows of {} of the I/O traces in {}", to_string(window_), path.string());
  }

  void fit(std::span<const std::size_t> training) override {
    std::vector<RawColumn> columns;
    for (const std::size_t feature : features_)
      columns.push_back({.name = std::string(kIoFeatureNames[feature])});
    auto next = training.begin();
    preparation_ = TablePreparation::fit(options_.table, columns, [&](std::vector<std::string>& cells) {
      if (next == training.end()) return false;
      cells = rows_[*next++];
      return true;
    });
  }

  SampleFormat format() const override {
    ensure(preparation_.has_value(), "the source was fitted");
    Json preparation = Json::parse(preparation_->to_json());
    preparation["window"] = to_string(window_);
    return {.shape = Shape{static_cast<std::int64_t>(preparation_->width())},
            .type = data::SampleType::kFloat32,
            .preparation = preparation.dump()};
  }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    ensure(preparation_.has_value(), "the source was fitted");
    preparation_->encode(rows_[item],
                         {reinterpret_cast<float*>(sample.data()), sample.size() / sizeof(float)});
    std::uint64_t bytes = 0;
    for (const std::string& cell : rows_[item]) bytes += cell.size();
    return {.bytes = bytes};
  }

 private:
  void add_file(const ClassFile& file) {
    const std::size_t before = rows_.size();
    os::File(file.file, os::Access::kRead);  // refuses pipes, sockets and devices
    if (is_darshan_dump(file.file)) {
      add_dump(file);
    } else if (is_request_csv(file.file, options_.reading)) {
      for (const Trace& trace : read_request_csv(file.file, options_, labels_in_file_))
        add_trace(trace, file);
    } else {
      throw Error(
          fmt::format("{}: is neither a CSV of requests nor a dump of a Darshan log", file.file.string()),
          "columns of such a CSV: time, operation, offset, size, file");
    }
    if (rows_.size() == before)
      catalog_.notes.push_back(fmt::format("{} is left out: it has too few requests", file.name));
  }

  void add_dump(const ClassFile& file) {
    if (labels_in_file_) {
      throw Error(fmt::format("{}: a dump of a Darshan log has no label", file.file.string()),
                  "put the dumps of each class into a folder, and name the folder around these folders");
    }
    DarshanDump dump = read_darshan_dump(file.file);
    if (dump.counters && dump.requests.empty()) add_row(*dump.counters, {}, file);
    add_trace({.requests = std::move(dump.requests)}, file);
  }

  void add_trace(const Trace& trace, const ClassFile& file) {
    requests_ += std::ssize(trace.requests);
    for (const std::span<const Request> window : windows(trace.requests, window_))
      add_row(io_features(window), trace, file);
  }

  void add_row(const IoFeatures& features, const Trace& trace, const ClassFile& file) {
    std::vector<std::string>& row = rows_.emplace_back();
    const std::array<double, 5> all = values(features);
    for (const std::size_t feature : features_) row.push_back(fmt::format("{}", all[feature]));
    windows_of_file_ = file.file == file_ ? windows_of_file_ + 1 : 1;
    file_ = file.file;
    catalog_.items.push_back({.name = fmt::format("{}, window {}", file.name, windows_of_file_),
                              .split = file.split,
                              .label = file.label,
                              .group = group_of(trace, file)});
    if (labels_in_file_) labels_.push_back(trace.label);
  }

  // Windows of a run stay together. A single file without a column of runs is cut between any windows.
  std::string group_of(const Trace& trace, const ClassFile& file) const {
    if (!options_.columns.group.empty()) return trace.group;
    return labels_in_file_ ? "" : file.name;
  }

  void name_classes(const std::vector<std::string>& folders, const fs::path& path) {
    if (labels_in_file_) {
      const ClassLabels classes = class_labels(labels_, options_.class_names, path.string());
      for (std::size_t i = 0; i < labels_.size(); ++i) catalog_.items[i].label = classes.labels[i];
      catalog_.classes = classes.classes;
      catalog_.class_names = classes.class_names;
      return;
    }
    catalog_.classes = std::ssize(folders);
    catalog_.class_names = folders;
    rename_classes(catalog_, options_.class_names, path.string());
  }

  SourceOptions options_;
  Window window_;
  std::vector<std::size_t> features_;  // that become columns
  bool labels_in_file_ = false;
  std::vector<std::vector<std::string>> rows_;  // of items: the features as cells of a table
  std::vector<std::string> labels_;             // of items, if the files have them
  std::int64_t requests_ = 0;
  fs::path file_;  // of the last row
  std::int64_t windows_of_file_ = 0;
  std::optional<TablePreparation> preparation_;  // after fit()
};

}  // namespace

bool is_io_traces(const fs::path& path, const ReadingOptions& options) {
  return fs::is_directory(path) ? has_class_files(path, trace_folders(options)) : is_trace(path, options);
}

std::unique_ptr<Source> open_io_traces(const fs::path& path, const SourceOptions& options) {
  return std::make_unique<IoTraces>(path, options);
}

}  // namespace convoke::data_prep
