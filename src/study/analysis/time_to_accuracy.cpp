#include "convoke/study/analysis/time_to_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "convoke/study/running/finished_run.hpp"

namespace convoke::study {
namespace {

struct Epoch {
  double slowest = 0;  // seconds from the start
  double accuracies = 0;
  std::int64_t members = 0;
};

}  // namespace

std::vector<Validation> read_validations(const std::filesystem::path& run, std::int64_t ranks) {
  std::map<std::int64_t, double> trained;  // by group: seconds so far
  std::map<std::int64_t, Epoch> epochs;
  for (const auto& [member, its_epochs] : logged_epochs(run, ranks)) {
    for (const LoggedEpoch& epoch : its_epochs) {
      double& seconds = trained[epoch.group];
      seconds += epoch.seconds;
      if (!std::isfinite(epoch.validation_accuracy)) continue;
      Epoch& all = epochs[epoch.epoch];
      all.slowest = std::max(all.slowest, seconds);
      all.accuracies += epoch.validation_accuracy;
      ++all.members;
    }
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

std::vector<TimeToAccuracy> times_to_accuracy(std::span<const MeasuredConfiguration> configurations,
                                              std::span<const TableRow> rows, double accuracy) {
  std::vector<TimeToAccuracy> all;
  for (std::size_t c = 0; c < configurations.size(); ++c) {
    TimeToAccuracy time{.configuration = c, .accuracy = accuracy};
    const std::vector<std::string>& marks = configurations[c].marks;
    const bool contended_ones_count = std::ranges::find(marks, "contended") != marks.end();
    std::vector<double> seconds;
    std::set<std::filesystem::path> folders;  // a contended run and its repetition have the same one
    for (const TableRow& row : rows) {
      const Measurement& run = row.measurement;
      if (row.folder.empty() || run.has_mark("failed") || coordinates(run) != configurations[c].at) continue;
      if (run.has_mark("contended") && !contended_ones_count) continue;
      const auto folder =
          row.folder / "runs" / fmt::format("{}-{}", run_name(configurations[c].at), run.repeat);
      if (!folders.insert(folder).second) continue;
      const std::vector<Validation> validations = read_validations(folder, configurations[c].at.ranks);
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
