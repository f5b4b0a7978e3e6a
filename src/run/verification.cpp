#include "convoke/run/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/run/parameter_group.hpp"

namespace convoke::run {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kNotCompared{"convoke_version", "format_version", "recipe",
                                                       "checksum"};

std::vector<std::string> names_of_both(std::vector<std::string> a, const std::vector<std::string>& b) {
  for (const std::string& name : b) {
    if (std::find(a.begin(), a.end(), name) == a.end()) a.push_back(name);
  }
  return a;
}

// Row-major: "[3, 0, 1, 2]".
std::string place_in(const Shape& shape, std::int64_t index) {
  std::vector<std::int64_t> place(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0; index /= shape[axis]) place[axis] = index % shape[axis];
  return fmt::format("[{}]", fmt::join(place, ", "));
}

// Returns the difference of two arrays of one shape; empty if they have the same bits.
std::string difference_of(const Shape& shape, std::span<const float> a, std::span<const float> b) {
  std::size_t first = a.size();
  std::size_t count = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i])) continue;
    if (count++ == 0) first = i;
    const double distance = std::abs(double{a[i]} - double{b[i]});
    largest = std::isnan(distance) ? std::numeric_limits<double>::infinity() : std::max(largest, distance);
  }
  if (count == 0) return {};
  return fmt::format("{}: {} and {}; {} of {} values differ, by at most {:.3g}",
                     place_in(shape, static_cast<std::int64_t>(first)), a[first], b[first], count, a.size(),
                     largest);
}

// Texts, such as the preparation of samples, are bytes without a checksum.
std::vector<float> values_of(const hdf5::Dataset& dataset) {
  if (dataset.has_attribute("checksum")) return read_parameter(dataset);
  std::vector<float> values(static_cast<std::size_t>(dataset.shape().elements()));
  dataset.read(std::span(values));
  return values;
}

void compare_arrays(const std::string& path, const hdf5::Dataset& a, const hdf5::Dataset& b,
                    FileComparison& result) {
  const Shape shape = a.shape();
  ++result.arrays;
  result.values += shape.elements();
  if (shape != b.shape()) {
    result.differences.push_back(
        fmt::format("{}: shapes {} and {}", path, shape.to_string(), b.shape().to_string()));
    return;
  }
  const std::string found = difference_of(shape, values_of(a), values_of(b));
  if (!found.empty()) result.differences.push_back(path + found);
}

// Compares groups of one path in two files.
void compare_arrays(const hdf5::Group& a, const hdf5::Group& b, FileComparison& result) {
  for (const std::string& name : names_of_both(a.children(), b.children())) {
    const std::string path = (a.path() == "/" ? "" : a.path()) + "/" + name;
    if (!a.contains(name) || !b.contains(name)) {
      result.differences.push_back(
          fmt::format("{}: only in the {} file", path, a.contains(name) ? "first" : "second"));
    } else if (a.has_group(name) && b.has_group(name)) {
      compare_arrays(a.group(name), b.group(name), result);
    } else {
      compare_arrays(path, a.dataset(name), b.dataset(name), result);
    }
  }
}

std::string fact_in(const hdf5::Group& group, const std::string& name) {
  constexpr std::size_t kLongest = 200;
  return group.has_attribute(name) ? shortened(group.attribute_text(name), kLongest) : "absent";
}

void compare_facts(const hdf5::Group& a, const hdf5::Group& b, FileComparison& result) {
  for (const std::string& name : names_of_both(a.attribute_names(), b.attribute_names())) {
    if (std::find(kNotCompared.begin(), kNotCompared.end(), name) != kNotCompared.end()) continue;
    const std::string in_a = fact_in(a, name);
    const std::string in_b = fact_in(b, name);
    if (in_a == in_b) continue;
    result.differences.push_back(fmt::format("{} {}: {} and {}", a.path(), name, in_a, in_b));
  }
  for (const std::string& name : a.children()) {
    if (a.has_group(name) && b.has_group(name)) compare_facts(a.group(name), b.group(name), result);
  }
}

std::string format_of(const hdf5::File& file) {
  constexpr std::int64_t kVersion = 1;
  std::string format = read_format(file, kVersion);
  if (format == "model" || format == "ensemble" || format == "checkpoint") return format;
  throw Error(fmt::format("{}: holds a {}, neither a model nor a checkpoint", file.file().string(), format));
}

/// Sorts files of a run by their order in training: checkpoints of all members, best models, the result.
std::tuple<int, long, long, std::string> order_of(const fs::path& file) {
  const std::string name = file.stem().string();
  if (file.parent_path().empty()) return {2, 0, 0, name};
  if (name.starts_with("best")) return {1, 0, 0, file.string()};
  long epochs = 0, steps = 0;
  std::sscanf(name.c_str(), "epoch-%ld-step-%ld", &epochs, &steps);
  return {0, epochs, steps, file.string()};
}

std::vector<fs::path> files_of_run(const fs::path& run) {
  std::vector<fs::path> files;
  for (const char* name : {"model.h5", "ensemble.h5"}) {
    if (fs::exists(run / name)) files.emplace_back(name);
  }
  if (fs::is_directory(run / "checkpoints")) {
    for (const auto& entry : fs::recursive_directory_iterator(run / "checkpoints")) {
      if (entry.path().extension() == ".h5") files.push_back(fs::relative(entry.path(), run));
    }
  }
  if (files.empty()) {
    throw Error(fmt::format("{}: has no checkpoint, model.h5 or ensemble.h5", run.string()),
                "pass the folder of a run that has begun to train");
  }
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return order_of(a) < order_of(b); });
  return files;
}

}  // namespace

FileComparison compare_files(const fs::path& a, const fs::path& b) {
  const hdf5::File in_a = hdf5::File::open(a);
  const hdf5::File in_b = hdf5::File::open(b);
  const std::string format = format_of(in_a);
  if (const std::string other = format_of(in_b); other != format) {
    throw Error(
        fmt::format("{} is of the kind {}, but {} of the kind {}", a.string(), format, b.string(), other),
        "pass two models, two ensembles, two checkpoints or two run folders");
  }
  FileComparison result;
  const std::string step = format == "checkpoint" ? "updates" : "step";
  if (in_a.has_attribute(step)) result.position = "step " + in_a.attribute_text(step);
  compare_arrays(in_a, in_b, result);
  compare_facts(in_a, in_b, result);
  return result;
}

RunFiles files_of_runs(const fs::path& a, const fs::path& b) {
  const std::vector<fs::path> of_a = files_of_run(a);
  const std::vector<fs::path> of_b = files_of_run(b);
  RunFiles files;
  const auto sort_out = [](const auto& mine, const auto& others, auto& shared, auto& alone) {
    for (const fs::path& file : mine) {
      const bool in_both = std::find(others.begin(), others.end(), file) != others.end();
      (in_both ? shared : alone).push_back(file);
    }
  };
  std::vector<fs::path> again;
  sort_out(of_a, of_b, files.both, files.only_a);
  sort_out(of_b, of_a, again, files.only_b);
  return files;
}

}  // namespace convoke::run
