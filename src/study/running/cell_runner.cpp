#include "convoke/study/running/cell_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/os/child_process.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/study/running/finished_run.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

constexpr auto kLook = std::chrono::milliseconds(10);
constexpr double kMeanwhile = 0.25;  // seconds between calls
constexpr double kEnergy = 30;       // seconds: counters wrap around after minutes

/// The end of a process.
struct End {
  int code = 0;
  int interrupted_by = 0;
  double seconds = 0;
};

End wait_for(os::ChildProcess& child, EnergyMeter& energy, const std::function<void()>& meanwhile) {
  const os::Stopwatch watch;
  double next = 0, next_energy = kEnergy;
  for (;;) {
    if (const auto code = child.exit_code()) return {.code = *code, .seconds = watch.seconds()};
    if (const int signal = os::StopSignals::received()) {
      child.end();
      return {.interrupted_by = signal, .seconds = watch.seconds()};
    }
    if (watch.seconds() >= next) {
      meanwhile();
      next = watch.seconds() + kMeanwhile;
    }
    if (watch.seconds() >= next_energy) {
      energy.update();
      next_energy += kEnergy;
    }
    std::this_thread::sleep_for(kLook);
  }
}

// Returns the error in a log: its first line with "error: "; or the subject of the last message of Open MPI,
// which is the first line between two lines of dashes; or the last line.
std::string complaint_in(const fs::path& log) {
  std::ifstream in(log);
  std::string last, subject;
  bool framed = false, subject_follows = false;
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t at = line.find("error: "); at != std::string::npos) return line.substr(at + 7);
    if (line.starts_with("----------")) {
      framed = !framed;
      subject_follows = framed;
    } else if (line.find_first_not_of(" \t") != std::string::npos) {
      (subject_follows ? subject : last) = line;
      subject_follows = false;
    }
  }
  if (!subject.empty()) return subject;
  return last.empty() ? "it printed nothing" : last;
}

void remove_models(const fs::path& folder) {
  std::error_code missing;
  for (const char* name : {"checkpoints", "model.h5", "ensemble.h5"}) fs::remove_all(folder / name, missing);
}

}  // namespace

CellRunner::CellRunner(const StudyFile& study, const StudyFolder& folder, Surroundings surroundings)
    : study_(study),
      folder_(folder),
      surroundings_(std::move(surroundings)),
      loops_(surroundings_.cores, folder.calibration()) {}

bool CellRunner::oversubscribes(const Configuration& cell) const {
  return launch_of(cell.at.ranks, cell.at.threads, surroundings_.all_cores).oversubscribed;
}

// Returns the number of busy cores of this host.
std::int64_t CellRunner::busy(const Configuration& cell) const {
  return std::min(cell.at.workers(), static_cast<std::int64_t>(surroundings_.cores.size()));
}

void CellRunner::calibrate(const std::vector<Configuration>& cells) {
  for (const Configuration& cell : cells) loops_.calibrate(busy(cell));
}

std::vector<std::string> CellRunner::command(const Configuration& cell, std::int64_t repeat,
                                             const fs::path& output) const {
  std::vector<std::string> words =
      launch_of(cell.at.ranks, cell.at.threads, surroundings_.all_cores, surroundings_.launch_options).words;
  words.insert(words.end(),
               {surroundings_.program, "train", cell.recipe, "--quiet", "--output", output.string()});
  // Hundreds of runs do not need a page each; [set] may ask for them.
  words.insert(words.end(), {"--set", "run.report=false"});
  for (const std::string& change : cell.changes_of(study_, repeat))
    words.insert(words.end(), {"--set", change});
  return words;
}

std::string CellRunner::first_bindings(const Configuration& cell, std::int64_t but) const {
  for (std::int64_t repeat = 1; repeat <= study_.at_most; ++repeat) {
    if (repeat == but || !fs::exists(folder_.run(cell, repeat) / "summary.json")) continue;
    return bindings_of(folder_.run(cell, repeat));
  }
  return {};
}

RunOutcome CellRunner::run(const Configuration& cell, std::int64_t repeat,
                           const std::function<void()>& meanwhile) {
  const fs::path output = folder_.run(cell, repeat), log = folder_.log(cell, repeat);
  fs::remove_all(output);
  fs::remove(log);
  RunOutcome outcome;
  Measurement& run = outcome.measurement;
  run.started = os::utc_now();
  const double before = loops_.slowdown(busy(cell));

  energy_.start();
  os::ChildProcess child(command(cell, repeat, output), log);
  const End end = wait_for(child, energy_, meanwhile);
  run_seconds_ += end.seconds;
  const std::optional<double> joules = energy_.joules();
  outcome.seconds = end.seconds;
  outcome.interrupted_by = end.interrupted_by;
  if (end.interrupted_by != 0) {
    fs::remove_all(output);
    fs::remove(log);
    return outcome;
  }
  outcome.slowdown = std::max(before, loops_.slowdown(busy(cell)));
  outcome.correction = loops_.take_correction();
  if (outcome.correction > 0.01) loops_.write();

  if (end.code == 0) {
    try {
      run = read_finished_run(output);
      // The counters belong to this host.
      if (surroundings_.all_cores <= std::ssize(surroundings_.cores)) run.joules = joules;
      run.launch_seconds = std::max(0.0, end.seconds - run.makespan_seconds.value_or(end.seconds));
    } catch (const Error& error) {
      outcome.failure = error.what();
    }
  } else {
    outcome.failure = fmt::format("exit code {}: {}", end.code, complaint_in(log));
  }
  run.system = cell.at.system, run.mode = cell.at.mode, run.batch = cell.at.batch,
  run.variant = cell.at.variant;
  run.ranks = cell.at.ranks, run.threads = cell.at.threads, run.portion = cell.at.portion;
  run.repeat = repeat;
  if (!outcome.failure.empty()) {
    run.marks = {"failed"};
    return outcome;
  }
  if (oversubscribes(cell)) {
    run.marks.emplace_back("oversubscribed");
    // The threads shared the existing cores.
    run.core_seconds = run.makespan_seconds.value_or(0) * static_cast<double>(surroundings_.all_cores);
  }
  if (outcome.slowdown > study_.disturbed_above) run.marks.emplace_back("disturbed");
  const std::string others = first_bindings(cell, repeat);
  if (!others.empty() && others != bindings_of(output)) run.marks.emplace_back("bindings differ");
  if (!study_.keep_models) remove_models(output);
  return outcome;
}

std::string CellRunner::warm_up(const Configuration& cell, const fs::path& output,
                                const std::function<void()>& meanwhile) {
  const fs::path log = output.string() + ".log";
  fs::remove_all(output);
  fs::remove(log);
  os::ChildProcess child(command(cell, 1, output), log);
  const End end = wait_for(child, energy_, meanwhile);
  run_seconds_ += end.seconds;
  fs::remove_all(output);
  if (end.code != 0) return fmt::format("exit code {}: {} ({})", end.code, complaint_in(log), log.string());
  fs::remove(log);
  return {};
}

}  // namespace convoke::study
