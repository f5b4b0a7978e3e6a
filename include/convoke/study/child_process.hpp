#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convoke::study {

/// A program that runs beside this one, in a process group of its own: a Ctrl-C of the terminal does not
/// reach it, whoever started it decides. It ends when this process does, however that ends.
class ChildProcess {
 public:
  /// Starts words[0], which is looked for on the PATH, with nothing to read; what it prints goes to the end
  /// of `log`. Throws Error if it cannot be started.
  ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& log);
  ~ChildProcess();  ///< ends it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Its exit code, 128 + the signal that ended it; nothing while it runs.
  std::optional<int> exit_code();
  /// Asks it to end (SIGTERM), and after `patience` seconds ends it and all its group. Returns when it has.
  void end(double patience = 10);

 private:
  int pid_ = -1;
  std::optional<int> code_;
};

}  // namespace convoke::study
