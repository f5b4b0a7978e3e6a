#include "convoke/study/time_to_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "convoke/core/error.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::study {
namespace {

// The number of that name; NaN if there is none.
double number_in(const Settings& record, std::string_view key) {
  const Value* value = record.find(key);
  if (value == nullptr) return std::nan("");
  if (const auto* v = std::get_if<double>(&value->data())) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&value->data())) return static_cast<double>(*v);
  return std::nan("");
}

struct Epoch {
  double slowest = 0;  // seconds from the start
  double accuracies = 0;
  std::int64_t members = 0;
};

}  // namespace

std::vector<Validation> read_validations(const std::filesystem::path& metrics) {
  std::ifstream in(metrics);
  if (!in) return {};
  std::map<std::int64_t, double> trained;  // by member: seconds so far
  std::map<std::int64_t, Epoch> epochs;
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (in.eof()) break;  // without its end: a run was killed while it wrote
    const Settings record = metrics::settings_from_json(line, fmt::format("{}:{}", metrics.string(), number));
    const Value* event = record.find("event");
    if (event == nullptr || !(*event == Value("epoch"))) continue;
    const auto member = std::llround(number_in(record, "member")),
               epoch = std::llround(number_in(record, "epoch"));
    double& seconds = trained[member];
    seconds += number_in(record, "seconds");
    const double accuracy = number_in(record, "validation_accuracy");
    if (!std::isfinite(accuracy) || !std::isfinite(seconds)) continue;
    Epoch& all = epochs[epoch];
    all.slowest = std::max(all.slowest, seconds);
    all.accuracies += accuracy;
    ++all.members;
  }
  std::vector<Validation> validations;
  for (const auto& [epoch, all] : epochs) {
    validations.push_back({all.slowest, all.accuracies / static_cast<double>(all.members)});
  }
  return validations;
}

std::optional<double> seconds_to(double accuracy, std::span<const Validation> validations) {
  for (const Validation& validation : validations) {
    if (validation.accuracy >= accuracy) return validation.seconds;
  }
  return {};
}

std::vector<TimeToAccuracy> times_to_accuracy(std::span<const Cell> cells, const std::filesystem::path& study,
                                              double accuracy) {
  std::vector<TimeToAccuracy> all;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    TimeToAccuracy time{.cell = c, .accuracy = accuracy, .seconds = {}};
    std::vector<double> seconds;
    for (const Measurement& run : cells[c].runs) {
      const auto folder = study / "runs" / fmt::format("{}-{}", run_name(cells[c].at), run.repeat);
      const std::vector<Validation> validations = read_validations(folder / "metrics.jsonl");
      if (validations.empty()) continue;
      ++time.runs;
      if (const auto reached = seconds_to(accuracy, validations)) seconds.push_back(*reached);
    }
    time.reached = static_cast<std::int64_t>(seconds.size());
    if (!seconds.empty()) time.seconds = summarize(seconds);
    if (time.runs > 0) all.push_back(std::move(time));
  }
  return all;
}

}  // namespace convoke::study
