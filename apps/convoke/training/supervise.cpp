#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/options.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/supervise/exit_status.hpp"
#include "convoke/supervise/launch_command.hpp"
#include "convoke/supervise/launched_job.hpp"
#include "convoke/supervise/supervision.hpp"
#include "convoke/supervise/watchdog.hpp"
#include "training/ended_job.hpp"

namespace convoke::app {
namespace {

using namespace std::chrono_literals;
using supervise::LaunchCommand, supervise::LaunchHost;
using Hosts = std::vector<LaunchHost>;

struct SuperviseOptions {
  int restarts = 3;
  std::string backoff = "5 s";
  std::vector<std::string> command;
  int ended = 0;       ///< the exit code of a batch job's command; 0: supervise `command`
  std::string output;  ///< the run folder of that job
};

constexpr const char* kSuperviseHelp = R"(Examples:
  convoke supervise -- mpirun -n 4 convoke train mnist-sync --output runs/first
  convoke supervise --restarts 10 --backoff 30s -- mpirun --hostfile hosts -n 16 \
    convoke train my.toml --output runs/long
  convoke supervise --ended 137 --output runs/first     in a batch script: is a restart worth while?

If the machine fails (a rank is killed, a host does not answer), the command is started again with --resume, and
continues from its newest checkpoint. If hosts of --host or --hostfile do not answer, it gets fewer ranks on the
others. An error that would come again, such as a wrong recipe, is not repeated. Two restarts in a row that reach
no new checkpoint are the last.

With --ended, nothing is started: the exit code is 0 if the job should go back to the queue, and CODE if not. The
output says why. The scripts of convoke slurm ask in this way.

Ctrl-C, SIGTERM, SIGUSR1 and SIGHUP are passed on to the command, and end it without a restart. The exit code is that
of the last attempt. See docs/supervision.md.
)";

constexpr auto kPoll = 20ms;
constexpr double kLockPatience = run::kLockSilence + 30;  // seconds

void say(const std::string& text) { fmt::print(stderr, "convoke supervise: {}\n", text); }

// A launcher may be dead before its ranks are, which hold the lock of the run until they have ended.
void wait_for_lock(const LaunchCommand& command) {
  const std::string holder = run::lock_holder(command.run());
  if (holder.empty()) return;
  say(fmt::format("waits until {} has ended", holder));
  wait_unless(kLockPatience, [&] { return run::lock_holder(command.run()).empty(); });
}

constexpr double kHostPatience = 15;  // seconds

bool in_slurm(const LaunchCommand& command) {
  return (command.by_mpirun() || command.by_srun()) && os::variable("SLURM_JOB_NODELIST").has_value();
}

bool is_here(const std::string& host) {
  const std::string here = os::host_name();
  return host == "localhost" || host.starts_with("127.") || host == here ||
         host == here.substr(0, here.find('.'));
}

// Asks a host as mpirun does. Without the program that reaches it, nothing is known: mpirun itself will tell.
bool answers(const std::string& host, const std::string& agent) {
  std::vector<std::string> words;
  std::istringstream in(agent);
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) words = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
  const std::string program = words.front();
  words.insert(words.end(), {host, "true"});
  if (os::run(words, {.input = "", .errors = false, .seconds = kHostPatience}).code == 0) return true;
  return program.find('/') == std::string::npos && !os::find_program(program);
}

Hosts nodes_of_job() {
  const os::Answer names = os::run({"scontrol", "show", "hostnames", *os::variable("SLURM_JOB_NODELIST")},
                                   {.input = "", .errors = false, .seconds = kHostPatience});
  const std::vector<std::int64_t> tasks = os::repeated_numbers_in("SLURM_TASKS_PER_NODE");
  Hosts nodes;
  std::istringstream in(names.code == 0 ? names.output : "");
  for (std::string name; in >> name;) {
    nodes.push_back({name, nodes.size() < tasks.size() ? static_cast<int>(tasks[nodes.size()]) : 1});
  }
  return nodes;
}

// Nodes that do not respond have a state with an asterisk.
std::set<std::string> lost_nodes() {
  const os::Answer answer = os::run(
      {"sinfo", "--noheader", "--Node", "--format=%N %T", "--nodes=" + *os::variable("SLURM_JOB_NODELIST")},
      {.input = "", .errors = false, .seconds = kHostPatience});
  std::set<std::string> lost;
  std::istringstream in(answer.code == 0 ? answer.output : "");
  for (std::string name, state; in >> name >> state;) {
    if (state.ends_with('*') || state.starts_with("down")) lost.insert(name);
  }
  return lost;
}

// The hosts on which a command may start ranks: those of its --host or --hostfile, or the nodes of the Slurm
// job that this process is part of. Empty if the command stays on this host. Throws Error if the hostfile
// cannot be read.
Hosts hosts_of(const LaunchCommand& command) {
  Hosts hosts = command.hosts();
  return hosts.empty() && in_slurm(command) ? nodes_of_job() : hosts;
}

// Returns those of `hosts` that can start ranks now: hosts of the command answer to ssh (or the program that
// mpirun uses instead), and nodes of the job are up. Takes at most 15 seconds.
Hosts live_hosts(Hosts hosts, const LaunchCommand& command) {
  if (command.hosts().empty() && in_slurm(command)) {
    const std::set<std::string> lost = lost_nodes();
    std::erase_if(hosts, [&](const LaunchHost& host) { return lost.contains(host.name); });
    return hosts;
  }
  const std::string agent =
      command.agent().empty() ? os::variable("OMPI_MCA_plm_rsh_agent").value_or("") : command.agent();
  std::vector<std::future<bool>> all;
  for (const LaunchHost& host : hosts) {
    all.push_back(
        std::async(std::launch::async, [&] { return is_here(host.name) || answers(host.name, agent); }));
  }
  Hosts live;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (all[i].get()) live.push_back(hosts[i]);
  }
  return live;
}

Hosts rest_of(Hosts all, const Hosts& some) {
  std::erase_if(all, [&](const LaunchHost& host) {
    return std::ranges::find(some, host.name, &LaunchHost::name) != some.end();
  });
  return all;
}

constexpr double kLook = 5;     // seconds between looks at the nodes of a job
constexpr int kHostLost = 205;  // as Open MPI's mpirun

// Passes on the first signal. A second Ctrl-C ends this process, and the command with it. In a Slurm job,
// ends a launcher whose ranks have not started when one of `hosts` is lost: mpirun would wait for minutes.
int run_to_end(const LaunchCommand& command, const Hosts& hosts) {
  supervise::forget_stall(command.run());
  supervise::LaunchedJob job(command.words(), command.run());
  bool starting = in_slurm(command);
  os::Stopwatch since_look;
  std::set<std::string> lost_before;  // at the look before: a node may be lost for a moment
  for (bool passed_on = false;;) {
    if (const std::optional<int> code = job.exit_code()) {
      if (job.lingered()) say("ended the launcher, which had nothing to do: the run had finished");
      return *code;
    }
    if (const int signal = os::StopSignals::received(); signal != 0 && !passed_on) {
      job.send(signal);
      passed_on = true;
    }
    if (starting && since_look.seconds() >= kLook) {
      starting = run::lock_holder(command.run()).empty();
      const std::set<std::string> lost = starting ? lost_nodes() : std::set<std::string>{};
      if (std::ranges::any_of(hosts, [&](const LaunchHost& host) {
            return lost.contains(host.name) && lost_before.contains(host.name);
          })) {
        job.end();
        return kHostLost;
      }
      lost_before = lost;
      since_look = {};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

std::string command_line(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

/// The hosts of the command when it was given, those that it names now, and which of these are alive.
struct HostState {
  Hosts given, lost, live;
};

HostState probe_hosts(const Hosts& given, const LaunchCommand& command) {
  const Hosts now = hosts_of(command);  // its hostfile may have changed
  const Hosts live = live_hosts(now, command);
  return {given, rest_of(now, live), live};
}

// Classifies the end of an attempt. A code that means an error of the command means the loss of a host if one
// does not answer: launchers then end with 1.
supervise::Attempt attempt_of(int code, const LaunchCommand& command, const HostState& hosts, bool asked) {
  const supervise::ExitStatus status = supervise::classify_exit(code, command.run());
  supervise::Attempt attempt;
  attempt.code = code;
  attempt.reason = status.reason;
  attempt.ranks = command.ranks();
  if (status.action == supervise::RecoveryAction::kNone) return attempt;
  attempt.curable = status.action == supervise::RecoveryAction::kRestart;
  if (!hosts.lost.empty() && status.action != supervise::RecoveryAction::kResume) {
    attempt.reason = join(names_in(hosts.lost)) + (hosts.lost.size() == 1 ? " does" : " do") + " not answer";
    attempt.curable = true;
  }
  if (!hosts.given.empty() && hosts.live.empty()) {
    attempt.reason = "no host answers";
    attempt.curable = false;
  }
  if (asked) {
    attempt.reason = "stopped on request";
    attempt.curable = false;
  }
  return attempt;
}

// Starts the command, and again while a restart can help. Returns the exit code of the last attempt.
int supervise(const SuperviseOptions& options) {
  // 1. The command, its run folder and its hosts.
  const LaunchCommand given(options.command);
  const double backoff = run::seconds_from(options.backoff);
  const os::StopSignals signals;
  const Hosts all = hosts_of(given);
  const auto steps = [&] { return steps_reached(given.run()); };
  supervise::Supervision supervision(options.restarts, backoff, steps());

  Hosts live = all;
  for (LaunchCommand command = given;;) {
    // 2. An attempt.
    const os::Stopwatch watch;
    const int code = run_to_end(command, live);
    const double seconds = watch.seconds();
    const bool asked = os::StopSignals::received() != 0;

    // 3. Whether a restart helps, and on which hosts.
    const HostState hosts = code == 0 || asked ? HostState{} : probe_hosts(all, given);
    supervise::Attempt attempt = attempt_of(code, command, hosts, asked);
    attempt.steps = steps();
    attempt.seconds = seconds;
    const supervise::Supervision::Decision next = supervision.after(attempt);
    if (!next.again) {
      if (supervision.attempts().size() > 1 || (code != 0 && !asked))
        say(fmt::format("{}\n{}",
                        code == 0 ? "done"
                        : asked   ? "ended on request"
                                  : "gave up: " + next.why_not,
                        supervision.table()));
      return code;
    }

    // 4. The wait, in which a signal ends the supervision.
    say(fmt::format("{}; starts it again in {}", attempt.reason, format_duration(next.wait_seconds)));
    supervise::append_restart(given.run(), attempt);
    wait_unless(next.wait_seconds, [] { return false; });
    wait_for_lock(given);
    if (os::StopSignals::received() != 0) return code;
    live = hosts.live;
    command = given.again(all, live);
    say(command_line(command.words()));
  }
}

}  // namespace

std::function<int()> add_supervise(CLI::App& parser) {
  auto options = std::make_shared<SuperviseOptions>();
  add_option(parser, "--restarts", options->restarts, "N", "Start the command again at most so many times")
      ->check(in_range(0, 1000))
      ->capture_default_str();
  add_option(parser, "--backoff", options->backoff, "TIME",
             "Wait so long before the first restart, and twice as long before each further one that "
             "follows no progress")
      ->capture_default_str();
  CLI::Option* const command =
      add_option(parser, "COMMAND", options->command, "COMMAND",
                 "The command, after --: convoke train with --output RUN or --resume RUN, and its launcher");
  CLI::Option* const ended =
      add_option(parser, "--ended", options->ended, "CODE",
                 "Decide by the exit code of a training whether its batch job returns to the queue")
          ->check(in_range(1, 255))
          ->excludes(command);
  CLI::Option* const output =
      add_option(parser, "--output", options->output, "RUN", "With --ended: the run folder of the job")
          ->needs(ended);
  ended->needs(output);
  parser.footer(kSuperviseHelp);
  return [options] {
    if (options->ended != 0)
      return decide_requeue(options->output, options->ended, options->restarts, options->backoff);
    if (options->command.empty())
      throw Error("the command is missing",
                  "name it after --: convoke supervise -- mpirun convoke train ...");
    return supervise(*options);
  };
}

}  // namespace convoke::app
