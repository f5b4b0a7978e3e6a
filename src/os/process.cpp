#include "convoke/os/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <system_error>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/file.hpp"

namespace convoke::os {
namespace {

std::string first_line(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file, std::ios::binary), line);
  return line;
}

}  // namespace

std::int64_t process_number() { return ::getpid(); }

// /proc/<pid>/stat: the number, the name in parentheses, which may contain any character, and then fields,
// counted from 3: the state, ..., the 22nd is the start.
std::string start_of_process(std::int64_t number) {
  const std::string text = first_line(fmt::format("/proc/{}/stat", number));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, field;
  fields >> state;
  if (state == "Z" || state == "X") return {};
  for (int i = 4; i <= 22; ++i) fields >> field;
  return fields ? field : std::string();
}

bool has_children(std::int64_t number) {
  std::error_code unknown;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", number), unknown);
  for (; thread != std::filesystem::directory_iterator(); thread.increment(unknown)) {
    std::ifstream children(thread->path() / "children");
    for (std::int64_t child = 0; children >> child;) {
      if (!start_of_process(child).empty()) return true;
    }
  }
  return false;
}

std::string process_space() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string parent_name() { return first_line(fmt::format("/proc/{}/comm", ::getppid())); }

namespace {

/// The standard streams of a child: descriptors.
struct Streams {
  int input, output, errors;
};

/// Thrown if a program cannot be started.
struct NotStarted : Error {
  using Error::Error;
};

// Runs between fork and exec, so it makes only async-signal-safe calls. Reports the error number of a failure
// through `report_pipe`.
[[noreturn]] void exec_child(char* const* words, Streams streams, bool own_group, int report_pipe,
                             pid_t parent) {
  if (own_group) setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(streams.input, 0) >= 0 && dup2(streams.output, 1) >= 0 &&
      dup2(streams.errors, 2) >= 0) {
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGXFSZ}) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvp(words[0], words);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(report_pipe, &reason, sizeof reason);
  _exit(127);
}

// If the parent of this process ignores SIGCHLD, so does this process, and the system would reap the children
// and lose their exit codes.
void keep_exit_codes() {
  struct sigaction now {};
  sigaction(SIGCHLD, nullptr, &now);
  if (now.sa_handler == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
}

pid_t start(const std::vector<std::string>& words, Streams streams, bool own_group) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  keep_exit_codes();
  int report_pipe[2] = {-1, -1};
  const pid_t parent = getpid();
  pid_t child = -1;
  if (pipe2(report_pipe, O_CLOEXEC) == 0) child = fork();
  const int failed = errno;
  if (child == 0) exec_child(arguments.data(), streams, own_group, report_pipe[1], parent);
  close(report_pipe[1]);
  if (child < 0) {
    close(report_pipe[0]);
    throw Error(fmt::format("cannot start {}: {}", words.front(), reason_of(failed)));
  }
  if (own_group) setpgid(child, child);  // also here: parent and child may come first
  int reason = 0;
  ssize_t count = 0;
  do count = read(report_pipe[0], &reason, sizeof reason);
  while (count < 0 && errno == EINTR);
  close(report_pipe[0]);
  if (count == sizeof reason) {
    waitpid(child, nullptr, 0);
    throw NotStarted(fmt::format("cannot start {}: {}", words.front(), reason_of(reason)),
                     fmt::format("is {} installed, and on the PATH?", words.front()));
  }
  return child;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Returns the exit code of a child that has ended, kLost if another part of the process reaped it; none while
// it runs.
std::optional<int> reap(pid_t child, int flags) {
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, flags);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) return ChildProcess::kLost;
  return ended == child ? std::optional(code_of(status)) : std::nullopt;
}

int wait_for(pid_t child, double seconds) {
  if (seconds <= 0) return reap(child, 0).value_or(ChildProcess::kLost);
  const Stopwatch watch;
  for (;;) {
    if (const std::optional<int> code = reap(child, WNOHANG)) return *code;
    if (watch.seconds() > seconds) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

// Uses files, because pipes would have to be written and read alternately.
Answer run(const std::vector<std::string>& words, const RunOptions& options) {
  File input = scratch_file("input of " + words.front());
  input.write_at(0, std::as_bytes(std::span(options.input)));
  const File output = scratch_file("output of " + words.front());
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
  const File nothing("/dev/null", Access::kReadWrite);
  const File file(log, Access::kAppend);
  pid_ = start(words, {nothing.descriptor(), file.descriptor(), file.descriptor()}, true);
}

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  const File nothing("/dev/null", Access::kReadWrite);
  pid_ = start(words, {nothing.descriptor(), STDOUT_FILENO, STDERR_FILENO}, true);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) end(1);
}

std::optional<int> ChildProcess::exit_code() {
  if (!code_) code_ = reap(pid_, WNOHANG);
  return code_;
}

bool ChildProcess::has_children() const { return os::has_children(pid_); }

void ChildProcess::send(int signal) {
  if (!exit_code()) kill(pid_, signal);
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
