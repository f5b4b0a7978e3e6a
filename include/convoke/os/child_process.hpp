#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convoke::os {

/// What a program that was run has answered.
struct Answer {
  int code = 0;             ///< its exit code, 128 + the signal that ended it, 127 if it could not be run
  std::string output = {};  ///< what it printed, without the newlines at its end
};

/// How a program is run.
struct RunOptions {
  std::string input = {};  ///< what it reads
  bool errors = true;      ///< `output` holds what it prints to standard error, too; else that is dropped
  double seconds = 0;      ///< after which it is ended; 0: it may take as long as it likes
};

/// Runs words[0], which is looked for on the PATH, and waits for it. No shell is asked. Throws Error if this
/// process cannot start any.
Answer run(const std::vector<std::string>& words, const RunOptions& options = {});

/// The first program of that name on the PATH; nothing if there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// A program that runs while this one goes on, in a process group of its own: a Ctrl-C of the terminal does
/// not reach it, this program decides. It ends when this process does, however that ends.
class ChildProcess {
 public:
  static constexpr int kLost = 255;  ///< the exit code of one that was reaped by somebody else

  /// Starts words[0], which is looked for on the PATH, with nothing to read; what it prints goes to the end
  /// of `log`. Throws Error if it cannot be started.
  ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& log);
  ~ChildProcess();  ///< ends it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Its exit code, 128 + the signal that ended it, or kLost; nothing while it runs.
  std::optional<int> exit_code();
  /// Asks it to end (SIGTERM), and after `patience` seconds ends it and all its group. Returns when it has.
  void end(double patience = 10);

 private:
  int pid_ = -1;
  std::optional<int> code_;
};

}  // namespace convoke::os
