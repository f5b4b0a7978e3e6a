#include "convoke/study/running/configuration_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/study/running/finished_run.hpp"
#include "convoke/supervise/launched_job.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

constexpr auto kLook = std::chrono::milliseconds(10);
constexpr double kMeanwhile = 0.25;  // seconds between calls
constexpr double kEnergy = 30;       // seconds: counters wrap around after minutes

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

// The runs of members, until they move into the folder of the whole run.
fs::path members_before(const fs::path& output) { return output.string() + "-members"; }

void remove_models(const fs::path& folder) {
  std::error_code missing;
  for (const char* name : {"checkpoints", "model.h5", "ensemble.h5"}) fs::remove_all(folder / name, missing);
}

}  // namespace

Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores, LaunchOptions launch_options) {
  Launch launch{.oversubscribed = ranks * threads > cores};
  std::vector<std::string>& words = launch.words;
  const bool bind = launch_options.bind && !launch.oversubscribed;
  if (launch_options.srun) {
    words = {"srun", "--mpi=pmix", "--kill-on-bad-exit=1", fmt::format("--ntasks={}", ranks)};
    words.push_back(fmt::format("--cpus-per-task={}", threads));
    words.emplace_back(bind ? "--cpu-bind=cores" : "--cpu-bind=none");
    if (launch.oversubscribed) words.emplace_back("--overcommit");
    return launch;
  }
  words = {"mpirun", "-n", fmt::format("{}", ranks)};
  if (launch.oversubscribed) words.emplace_back("--oversubscribe");
  if (bind) words.insert(words.end(), {"--map-by", fmt::format("slot:PE={}", threads)});
  words.insert(words.end(), {"--bind-to", bind ? "core" : "none"});
  return launch;
}

std::int64_t cores_of_job() {
  const auto count = [](const char* variable) {
    return std::max<std::int64_t>(0, os::number_in(variable).value_or(0));
  };
  const std::int64_t nodes = count("SLURM_JOB_NUM_NODES"), per_node = count("SLURM_NTASKS_PER_NODE"),
                     cpus = count("SLURM_CPUS_PER_TASK");
  const std::int64_t tasks = per_node > 0 ? nodes * per_node : count("SLURM_NTASKS");
  // Slurm sets only those that the user requested. The affinity shows the cores of one node.
  const bool known = nodes > 1 ? tasks > 0 : nodes * per_node * cpus > 0;
  return known ? tasks * std::max<std::int64_t>(1, cpus) : static_cast<std::int64_t>(cores_here().size());
}

std::vector<int> cores_here() {
  std::vector<int> cores = os::cores_of(os::allowed_cpus(), os::online_cpus());
  if (const double quota = os::cpu_quota(); quota > 0) {
    const auto granted = static_cast<std::size_t>(std::max(1.0, std::floor(quota)));
    if (granted < cores.size()) cores.resize(granted);
  }
  return cores;
}

ConfigurationRunner::ConfigurationRunner(const StudyFile& study, const StudyFolder& folder,
                                         RunEnvironment environment)
    : study_(study),
      folder_(folder),
      environment_(std::move(environment)),
      loops_(environment_.cores, folder.calibration()) {}

Launch ConfigurationRunner::launch(const Configuration& configuration) const {
  return launch_of(configuration.ranks_at_once(), configuration.at.threads, environment_.all_cores,
                   environment_.launch_options);
}

bool ConfigurationRunner::oversubscribes(const Configuration& configuration) const {
  return launch(configuration).oversubscribed;
}

// Returns the number of busy cores of this host.
std::int64_t ConfigurationRunner::busy(const Configuration& configuration) const {
  return std::min(configuration.ranks_at_once() * configuration.at.threads,
                  static_cast<std::int64_t>(environment_.cores.size()));
}

void ConfigurationRunner::calibrate(const std::vector<Configuration>& configurations) {
  for (const Configuration& configuration : configurations) loops_.calibrate(busy(configuration));
}

std::vector<std::string> ConfigurationRunner::command(const Configuration& configuration, std::int64_t repeat,
                                                      const fs::path& output, std::int64_t member) const {
  std::vector<std::string> words = launch(configuration).words;
  words.insert(words.end(),
               {environment_.program, "train", configuration.recipe, "--quiet", "--output", output.string()});
  // Hundreds of runs do not need a page each; [set] may ask for them.
  words.insert(words.end(), {"--set", "run.report=false"});
  for (const std::string& change : configuration.changes_of(study_, repeat))
    words.insert(words.end(), {"--set", change});
  if (member >= 0) {
    words.insert(words.end(), {"--set", fmt::format("ensemble.members={}", configuration.members), "--member",
                               fmt::format("{}", member)});
  }
  return words;
}

ConfigurationRunner::End ConfigurationRunner::start(const std::vector<std::string>& words,
                                                    const fs::path& output, const fs::path& log,
                                                    const std::function<void()>& meanwhile) {
  supervise::LaunchedJob job(words, output, log);
  double next = 0, next_energy = kEnergy;
  End end;
  for (;; std::this_thread::sleep_for(kLook)) {
    const auto code = job.exit_code();
    end.code = code.value_or(0);
    if (!code) end.interrupted_by = os::StopSignals::received();
    if (end.interrupted_by != 0) job.end();
    if (code || end.interrupted_by != 0) break;
    if (job.seconds() >= next) {
      meanwhile();
      next = job.seconds() + kMeanwhile;
    }
    if (job.seconds() >= next_energy) {
      energy_.update();
      next_energy += kEnergy;
    }
  }
  end.seconds = job.seconds();
  run_seconds_ += end.seconds;
  return end;
}

// Each member is a run in its own folder, which then moves into the folder of the whole run.
ConfigurationRunner::End ConfigurationRunner::train_one_by_one(const Configuration& configuration,
                                                               std::int64_t repeat, const fs::path& output,
                                                               const fs::path& log,
                                                               const std::function<void()>& meanwhile) {
  const fs::path folder = members_before(output);
  fs::remove_all(folder);
  End all;
  const auto did = [&](const std::vector<std::string>& words, const fs::path& its_output) {
    const End end = start(words, its_output, log, meanwhile);
    all.code = end.code, all.interrupted_by = end.interrupted_by;
    all.seconds += end.seconds;
    return end.code == 0 && end.interrupted_by == 0;
  };
  std::vector<std::string> gather = launch(configuration).words;
  gather.insert(gather.end(), {environment_.program, "gather", "--output", output.string()});
  for (std::int64_t member = 0; member < configuration.members; ++member) {
    const fs::path of_member = folder / fmt::format("member-{:03}", member);
    gather.push_back(of_member.string());
    if (!did(command(configuration, repeat, of_member, member), of_member)) return all;
    all.slowdown = std::max(all.slowdown, loops_.slowdown(busy(configuration)));
  }
  if (!did(gather, output)) return all;
  fs::rename(folder, output / "members");
  return all;
}

std::string ConfigurationRunner::first_bindings(const Configuration& configuration, std::int64_t but) const {
  for (std::int64_t repeat = 1; repeat <= study_.at_most; ++repeat) {
    if (repeat == but || !fs::exists(folder_.run(configuration, repeat) / "summary.json")) continue;
    return bindings_of(folder_.run(configuration, repeat));
  }
  return {};
}

RunOutcome ConfigurationRunner::run(const Configuration& configuration, std::int64_t repeat,
                                    const std::function<void()>& meanwhile) {
  const fs::path output = folder_.run(configuration, repeat), log = folder_.log(configuration, repeat);
  const auto lock = folder_.lock_run(configuration, repeat);
  fs::remove_all(output);
  fs::remove(log);
  RunOutcome outcome;
  Measurement& run = outcome.measurement;
  run.started = os::utc_now();
  loops_.calibrate(busy(configuration));  // unless they are known
  const double before = loops_.slowdown(busy(configuration));

  energy_.start();
  const End end = configuration.at.emulated
                      ? train_one_by_one(configuration, repeat, output, log, meanwhile)
                      : start(command(configuration, repeat, output), output, log, meanwhile);
  const std::optional<double> joules = energy_.joules();
  outcome.seconds = end.seconds;
  outcome.interrupted_by = end.interrupted_by;
  if (end.interrupted_by != 0) {
    fs::remove_all(output);
    fs::remove_all(members_before(output));
    fs::remove(log);
    return outcome;
  }
  outcome.slowdown = std::max({before, end.slowdown, loops_.slowdown(busy(configuration))});
  outcome.correction = loops_.take_correction();
  if (outcome.correction > 0.01) loops_.write();

  if (end.code == 0) {
    try {
      if (configuration.at.emulated) complete_emulated_run(output);
      run = read_finished_run(output, study_.columns);
      // The counters belong to this host. Emulated members leave other cores idle, which takes energy, too.
      const bool counted =
          environment_.all_cores <= std::ssize(environment_.cores) && !configuration.at.emulated;
      if (counted) run.joules = joules;
      if (!configuration.at.emulated)
        run.launch_seconds = std::max(0.0, end.seconds - run.makespan_seconds.value_or(end.seconds));
    } catch (const Error& error) {
      outcome.failure = error.what();
    }
  } else {
    outcome.failure = fmt::format("exit code {}: {}", end.code, complaint_in(log));
  }
  run.system = configuration.at.system, run.mode = configuration.at.mode, run.batch = configuration.at.batch,
  run.variant = configuration.at.variant;
  run.ranks = configuration.at.ranks, run.threads = configuration.at.threads,
  run.fraction = configuration.at.fraction;
  run.repeat = repeat;
  if (configuration.at.emulated) run.marks.emplace_back("emulated");
  if (!outcome.failure.empty()) {
    run.marks.emplace_back("failed");
    return outcome;
  }
  if (oversubscribes(configuration)) {
    run.marks.emplace_back("oversubscribed");
    // The threads shared the existing cores.
    run.core_seconds = run.makespan_seconds.value_or(0) * static_cast<double>(environment_.all_cores);
  }
  if (outcome.slowdown > study_.contended_above) run.marks.emplace_back("contended");
  const std::string others = first_bindings(configuration, repeat);
  if (!others.empty() && others != bindings_of(output)) run.marks.emplace_back("bindings differ");
  if (!study_.keep_models) {
    remove_models(output);
    std::error_code missing;
    for (const auto& member : fs::directory_iterator(output / "members", missing))
      remove_models(member.path());
  }
  return outcome;
}

std::string ConfigurationRunner::warm_up(const Configuration& configuration, const fs::path& output,
                                         const std::function<void()>& meanwhile) {
  const fs::path log = output.string() + ".log";
  fs::remove_all(output);
  fs::remove(log);
  const End end =
      start(command(configuration, 1, output, configuration.at.emulated ? 0 : -1), output, log, meanwhile);
  fs::remove_all(output);
  if (end.code != 0) return fmt::format("exit code {}: {} ({})", end.code, complaint_in(log), log.string());
  fs::remove(log);
  return {};
}

}  // namespace convoke::study
