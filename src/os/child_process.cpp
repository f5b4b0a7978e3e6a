#include "convoke/os/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <span>
#include <sstream>
#include <system_error>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/file.hpp"
#include "convoke/os/variable.hpp"

namespace convoke::os {
namespace {

/// What a child has for its standard streams: descriptors.
struct Streams {
  int input, output, errors;
};

/// Thrown where a program cannot be started.
struct NotStarted : Error {
  using Error::Error;
};

// Between fork and exec only calls that are safe for signals. A failure is told by its number through `told`.
[[noreturn]] void become(char* const* words, Streams streams, bool own_group, int told, pid_t parent) {
  if (own_group) setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(streams.input, 0) >= 0 && dup2(streams.output, 1) >= 0 &&
      dup2(streams.errors, 2) >= 0) {
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvp(words[0], words);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(told, &reason, sizeof reason);
  _exit(127);
}

pid_t start(const std::vector<std::string>& words, Streams streams, bool own_group) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int told[2] = {-1, -1};
  const pid_t parent = getpid();
  pid_t child = -1;
  if (pipe2(told, O_CLOEXEC) == 0) child = fork();
  const int failed = errno;
  if (child == 0) become(arguments.data(), streams, own_group, told[1], parent);
  close(told[1]);
  if (child < 0) {
    close(told[0]);
    throw Error(fmt::format("cannot start {}: {}", words.front(), reason_of(failed)));
  }
  if (own_group) setpgid(child, child);  // here too: whoever comes first
  int reason = 0;
  ssize_t count = 0;
  do count = read(told[0], &reason, sizeof reason);
  while (count < 0 && errno == EINTR);
  close(told[0]);
  if (count == sizeof reason) {
    waitpid(child, nullptr, 0);
    throw NotStarted(fmt::format("cannot start {}: {}", words.front(), reason_of(reason)),
                     fmt::format("is {} installed, and on the PATH?", words.front()));
  }
  return child;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// The exit code of a child that has ended, kLost if it is not ours to ask; nothing while it runs.
std::optional<int> ask(pid_t child, int flags) {
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, flags);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) return ChildProcess::kLost;
  return ended == child ? std::optional(code_of(status)) : std::nullopt;
}

int wait_for(pid_t child, double seconds) {
  if (seconds <= 0) return ask(child, 0).value_or(ChildProcess::kLost);
  const Stopwatch watch;
  for (;;) {
    if (const std::optional<int> code = ask(child, WNOHANG)) return *code;
    if (watch.seconds() > seconds) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

// Files rather than pipes, which must be written and read in turns.
Answer run(const std::vector<std::string>& words, const RunOptions& options) {
  File input = File::in_memory("input of " + words.front());
  input.write_at(0, std::as_bytes(std::span(options.input)));
  const File output = File::in_memory("output of " + words.front());
  const File nowhere("/dev/null", Access::kWrite);
  const Streams streams{input.descriptor(), output.descriptor(),
                        options.errors ? output.descriptor() : nowhere.descriptor()};
  Answer answer;
  try {
    answer.code = wait_for(start(words, streams, false), options.seconds);
  } catch (const NotStarted& error) {
    return {127, error.what()};
  }
  answer.output = output.text();
  while (answer.output.ends_with('\n')) answer.output.pop_back();
  return answer;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
  std::istringstream folders(variable("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / name;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(file, unknown) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& log) {
  const File nothing("/dev/null", Access::kRead);
  const File file(log, Access::kAppend);
  pid_ = start(words, {nothing.descriptor(), file.descriptor(), file.descriptor()}, true);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) end(1);
}

std::optional<int> ChildProcess::exit_code() {
  if (!code_) code_ = ask(pid_, WNOHANG);
  return code_;
}

void ChildProcess::end(double patience) {
  if (exit_code()) return;
  kill(pid_, SIGTERM);
  const Stopwatch watch;
  while (!exit_code()) {
    if (watch.seconds() > patience) kill(-pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace convoke::os
