#include "convoke/study/running/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/run/run_status.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/running/queued_runs.hpp"
#include "convoke/study/running/schedule.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {
namespace {

// Formats seconds with three significant digits.
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds >= 100 ? 0 : seconds >= 10 ? 1 : seconds >= 1 ? 2 : 3);
}

// Returns the number of runs of the same configuration on other machines.
std::int64_t runs_elsewhere(std::span<const MeasuredConfiguration> measured,
                            const MeasuredConfiguration& configuration) {
  std::int64_t runs = 0;
  for (const MeasuredConfiguration& other : measured) {
    if (&other != &configuration && on_any_machine(other.at) == on_any_machine(configuration.at))
      runs += std::ssize(other.runs);
  }
  return runs;
}

std::string notes_of(const MeasuredConfiguration& configuration, const Statistics* makespan,
                     std::int64_t elsewhere) {
  std::vector<std::string> notes;
  for (const std::string& mark : configuration.marks) notes.push_back(loud(mark));
  if (configuration.contended > 0)
    notes.push_back(fmt::format("{} contended left out", configuration.contended));
  if (configuration.failed > 0) notes.push_back(fmt::format("{} FAILED", configuration.failed));
  if (elsewhere > 0) notes.push_back(fmt::format("{} on another machine", elsewhere));
  if (makespan != nullptr && makespan->count == 1) notes.emplace_back("one run: no interval");
  if (makespan != nullptr && makespan->is_constant()) notes.emplace_back("all equal: the scatter is unknown");
  return join(notes);
}

constexpr std::size_t kMostLines = 20;  // lines of the live table: a terminal has 24

/// One session of a study.
class Session {
 public:
  Session(const StudyFile& study, const std::vector<Configuration>& configurations, const StudyFolder& folder,
          const RunEnvironment& environment, metrics::Console console)
      : study_(study),
        configurations_(configurations),
        folder_(folder),
        runner_(study, folder, environment),
        schedule_(study, configurations.size()),
        block_(std::move(console)),
        runs_(collect(study, configurations, folder).runs) {
    result_.measured_energy = runner_.measures_energy();
    for (const Measurement& run : runs_) {
      const auto number = find_configuration(configurations, run);
      if (!number) continue;
      const Configuration& configuration = configurations[*number];
      schedule_.record(*number, run, 0, configuration.at.ranks / configuration.ranks_at_once());
    }
    sum_up();
  }

  SessionResult run() {
    if (schedule_.runs_left() > 0) {
      doing_ = "calibrating the spin loops";
      draw();
      runner_.calibrate(configurations_);
      warm_up();
    }
    while (going_on()) {
      const auto task = schedule_.next(seconds_left());
      if (!task) break;
      make(*task);
    }
    block_.clear();
    result_.left_out = schedule_.left_out() > 0 ? schedule_.runs_left() : 0;
    result_.interrupted_by = os::StopSignals::received();
    result_.run_seconds = runner_.run_seconds();
    result_.own_seconds = watch_.seconds() - result_.run_seconds;
    return result_;
  }

 private:
  bool going_on() const { return os::StopSignals::received() == 0; }

  std::optional<double> seconds_left() const {
    if (study_.budget_seconds == 0) return std::nullopt;
    return study_.budget_seconds - watch_.seconds();
  }

  // A warm-up for each recipe loads the dataset into memory and wakes up the processor.
  void warm_up() {
    std::set<std::string> recipes;
    for (const Configuration& configuration : configurations_) recipes.insert(configuration.recipe);
    for (const std::string& recipe : recipes) {
      const auto of_recipe = [&](const Configuration& configuration) {
        return configuration.recipe == recipe;
      };
      const Configuration* configuration = quickest(configurations_, [&](const Configuration& c) {
        return of_recipe(c) && !runner_.oversubscribes(c);
      });
      if (configuration == nullptr) configuration = quickest(configurations_, of_recipe);
      for (std::int64_t i = 1; i <= study_.warm_up && going_on(); ++i) {
        doing_ = fmt::format("warm-up {}/{} of {}", i, study_.warm_up, configuration->name);
        const std::string failure =
            runner_.warm_up(*configuration, folder_.warm_up(*configuration, 1), [&] { draw(); });
        if (!failure.empty() && going_on())
          block_.note(fmt::format("warm-up of {} FAILED: {}", recipe, failure));
      }
    }
  }

  void make(const Task& task) {
    const Configuration& configuration = configurations_[task.configuration];
    const std::string what =
        fmt::format("{} run {}{}", configuration.name, task.repeat, task.again ? " again" : "");
    const os::Stopwatch watch;
    const std::filesystem::path status = folder_.run(configuration, task.repeat) / "status.json";
    const RunOutcome outcome = runner_.run(configuration, task.repeat, [&] {
      const auto there = run::read_status(status);
      doing_ = fmt::format("{}: {}{}", what, format_duration(std::floor(watch.seconds())),
                           there ? fmt::format(", epoch {}/{}", there->epoch, there->epochs) : "");
      draw();
    });
    doing_.clear();
    if (outcome.interrupted_by != 0) return;
    const Measurement& run = outcome.measurement;
    require_same_dataset(run, runs_, folder_.run(configuration, task.repeat));
    append_measurement(folder_.measurements(), run);
    runs_.push_back(run);
    schedule_.record(task.configuration, run, std::max(outcome.seconds, 1e-3));
    sum_up();
    ++result_.made;
    result_.failed += run.has_mark("failed") ? 1 : 0;
    result_.contended += run.has_mark("contended") ? 1 : 0;
    block_.note(line_of(what, configuration, task, outcome));
    if (outcome.failure.empty()) warn_about_columns(run, folder_.run(configuration, task.repeat));
    if (outcome.correction > study_.contended_above) {
      block_.note(fmt::format(
          "warning: spin loops are {:.0f} % faster now than during calibration: the machine was not "
          "quiet then, and earlier contended runs may have no mark",
          100 * outcome.correction));
    }
    if (schedule_.is_given_up(task.configuration)) {
      block_.note(fmt::format("{} is abandoned after {} failed runs; --resume tries it again",
                              configuration.name, kFailuresInARow));
    }
    draw();
  }

  // Once for each column: a run may lack a number, such as the AUC of one class.
  void warn_about_columns(const Measurement& run, const std::filesystem::path& folder) {
    for (const std::string& column : study_.columns) {
      if (run.further.contains(column) || !warned_.insert(column).second) continue;
      block_.note(
          fmt::format("warning: {} has no number \"{}\", so its column is empty (docs/run-folder.md lists "
                      "the names)",
                      (folder / "summary.json").string(), column));
    }
  }

  std::string line_of(const std::string& what, const Configuration& configuration, const Task& task,
                      const RunOutcome& outcome) const {
    const Measurement& run = outcome.measurement;
    std::string line = what + "  ";
    if (!outcome.failure.empty()) {
      return line + fmt::format("FAILED: {} ({})", outcome.failure,
                                folder_.log(configuration, task.repeat).string());
    }
    line += fmt::format("makespan {:.3f} s", run.makespan_seconds.value_or(0));
    if (run.accuracy) line += fmt::format("  accuracy {:.4f}", *run.accuracy);
    if (run.has_mark("oversubscribed")) line += "  OVERSUBSCRIBED";
    if (run.has_mark("contended")) {
      line +=
          fmt::format("  CONTENDED: spin loops were {:.0f} % slower than calibrated", 100 * outcome.slowdown);
    }
    if (run.has_mark("bindings differ"))
      line += "  BINDINGS DIFFER from those of the configuration's first run";
    return line + "  " + progress();
  }

  // Results change when a run ends, not while it is measured: the cores belong to the run.
  void sum_up() {
    runs_left_ = schedule_.runs_left();
    expected_seconds_ = schedule_.seconds_left();
    since_ = os::Stopwatch();
    if (block_.is_live()) table_ = configuration_table(configurations_, runs_);
  }

  std::string progress() const {
    std::string text = fmt::format("{} done, {} left", runs_.size(), runs_left_);
    double eta = expected_seconds_ - since_.seconds();
    if (const auto budget = seconds_left()) eta = std::min(eta, std::max(0.0, *budget));
    return runs_left_ > 0 && eta > 0 ? text + ", ETA " + format_duration(eta) : text;
  }

  void draw() {
    if (!block_.is_live()) return;
    std::vector<std::string> lines{
        fmt::format("== {}: {}{}", study_.name, progress(), doing_.empty() ? "" : ", running " + doing_)};
    lines.insert(lines.end(), table_.begin(),
                 table_.begin() + static_cast<std::ptrdiff_t>(std::min(kMostLines, table_.size())));
    if (table_.size() > kMostLines)
      lines.push_back(fmt::format("... {} more configurations", table_.size() - kMostLines));
    block_.draw(lines);
  }

  const StudyFile& study_;
  const std::vector<Configuration>& configurations_;
  const StudyFolder& folder_;
  ConfigurationRunner runner_;
  RunSchedule schedule_;
  metrics::LiveBlock block_;
  std::vector<Measurement> runs_;
  std::int64_t runs_left_ = 0;   // after the last finished run,
  double expected_seconds_ = 0;  // and their estimated time
  os::Stopwatch since_;
  std::vector<std::string> table_;
  std::set<std::string> warned_;
  std::string doing_;
  SessionResult result_;
  os::Stopwatch watch_;
};

}  // namespace

std::vector<std::string> configuration_table(std::span<const Configuration> configurations,
                                             std::span<const Measurement> runs) {
  const std::vector<MeasuredConfiguration> measured = configurations_of(runs);
  std::size_t width = std::string_view("configuration").size();
  for (const Configuration& configuration : configurations)
    width = std::max(width, configuration.name.size() + 1);  // "!"
  std::vector<std::string> lines{fmt::format("{:<{}} {:>4}  {:>11}  {:>17}  {:>7}  {:>8}", "configuration",
                                             width, "runs", "makespan, s", "95 % interval", "+/-",
                                             "accuracy")};
  for (const Configuration& each : configurations) {
    const MeasuredConfiguration* configuration = largest_configuration_at(measured, each.at);
    if (configuration == nullptr) {
      lines.push_back(fmt::format("{:<{}} {:>4}", each.name, width, "-"));
      continue;
    }
    const Statistics* makespan = configuration->find("makespan_seconds");
    const Statistics* accuracy = configuration->find("accuracy");
    const bool known = makespan != nullptr && makespan->interval.has_value();
    std::string line = fmt::format(
        "{:<{}} {:>4}  {:>11}  {:>17}  {:>7}  {:>8}", (configuration->marks.empty() ? "" : "!") + each.name,
        width, configuration->runs.size(), makespan == nullptr ? "-" : seconds_text(makespan->mean),
        known ? seconds_text(makespan->interval->low) + " .. " + seconds_text(makespan->interval->high) : "-",
        known && makespan->relative_error ? fmt::format("{:.1f} %", 100 * *makespan->relative_error) : "-",
        accuracy == nullptr ? "-" : fmt::format("{:.4f}", accuracy->mean));
    if (const std::string notes =
            notes_of(*configuration, makespan, runs_elsewhere(measured, *configuration));
        !notes.empty())
      line += "  " + notes;
    lines.push_back(std::move(line));
  }
  std::set<std::string> others;
  for (const Measurement& run : runs) {
    if (!find_configuration(configurations, run)) others.insert(run_name(coordinates(run)));
  }
  if (!others.empty()) {
    lines.push_back("measured, but not in the study file: " +
                    listing(std::vector<std::string>(others.begin(), others.end())));
  }
  return lines;
}

SessionResult run_session(const StudyFile& study, const std::vector<Configuration>& configurations,
                          const StudyFolder& folder, const RunEnvironment& environment,
                          metrics::Console console) {
  return Session(study, configurations, folder, environment, std::move(console)).run();
}

}  // namespace convoke::study
