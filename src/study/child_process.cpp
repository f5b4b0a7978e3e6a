#include "convoke/study/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/run/phases.hpp"

namespace convoke::study {
namespace {

// Between fork and exec only calls that are safe for signals. A failure is told by its number through `told`.
[[noreturn]] void become(char* const* words, int log, int told, pid_t parent) {
  const int nothing = open("/dev/null", O_RDONLY);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(log, 1) >= 0 &&
      dup2(log, 2) >= 0) {
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, SIG_DFL);
    execvp(words[0], words);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(told, &reason, sizeof reason);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) throw Error(fmt::format("{}: {}", log.string(), std::generic_category().message(errno)));
  int told[2] = {-1, -1};
  const pid_t parent = getpid();
  if (pipe2(told, O_CLOEXEC) == 0) pid_ = fork();
  const int failed = errno;
  if (pid_ == 0) become(arguments.data(), file, told[1], parent);
  close(file);
  close(told[1]);
  if (pid_ < 0) {
    close(told[0]);
    throw Error(fmt::format("cannot start {}: {}", words.front(), std::generic_category().message(failed)));
  }
  setpgid(pid_, pid_);  // here too: whoever comes first
  int reason = 0;
  ssize_t count = 0;
  do count = read(told[0], &reason, sizeof reason);
  while (count < 0 && errno == EINTR);
  close(told[0]);
  if (count == sizeof reason) {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    throw Error(fmt::format("cannot start {}: {}", words.front(), std::generic_category().message(reason)),
                fmt::format("is {} installed, and on the PATH?", words.front()));
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) end(1);
}

std::optional<int> ChildProcess::exit_code() {
  int status = 0;
  if (!code_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return code_;
}

void ChildProcess::end(double patience) {
  if (exit_code()) return;
  kill(pid_, SIGTERM);
  const run::Stopwatch watch;
  while (!exit_code()) {
    if (watch.seconds() > patience) kill(-pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace convoke::study
