#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convoke::os {

/// Returns the number of this process.
std::int64_t process_number();

/// Returns the start of a process of this host, in ticks since the host's start, which distinguishes it from
/// later processes with its number. Empty if it does not run: it does not exist, or has ended and waits to be
/// reaped (a zombie).
std::string start_of_process(std::int64_t number);

/// True if the process has started others that still run. False where the kernel does not list them
/// (CONFIG_PROC_CHILDREN).
bool has_children(std::int64_t number);

/// Identifies the namespace of process numbers: each container has separate numbers.
std::string process_space();

/// Returns the command line of this process: the program and its arguments.
std::vector<std::string> command_line();

/// Returns the name of the process that started this one: "prterun"; empty if unknown.
std::string parent_name();

/// The result of running a program.
struct Answer {
  int code = 0;             ///< exit code; 128 + the signal that ended it; 127 if it could not be run
  std::string output = {};  ///< its output, without line ends at the end
};

/// Options of run().
struct RunOptions {
  std::string input = {};  ///< standard input
  bool errors = true;      ///< `output` includes standard error; else that is discarded
  double seconds = 0;      ///< time limit, after which the program is killed; 0: no limit
};

/// Runs words[0], which is searched on the PATH, without a shell, and waits for it. Throws Error if this
/// process cannot start programs.
Answer run(const std::vector<std::string>& words, const RunOptions& options = {});

/// Returns the first program of that name on the PATH; none if there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// A program that runs in parallel with this one, in a separate process group: Ctrl-C in the terminal does
/// not reach it; this program decides. It ends when this process ends, for any reason.
class ChildProcess {
 public:
  static constexpr int kLost = 255;  ///< the exit code if another part of this process reaped it

  /// Starts words[0], which is searched on the PATH, with empty input; appends its output to `log`. Throws
  /// Error if it cannot be started.
  ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& log);
  /// The same, but its output goes where that of this process goes.
  explicit ChildProcess(const std::vector<std::string>& words);
  ~ChildProcess();  ///< ends it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Returns its exit code, 128 + the signal that ended it, or kLost; none while it runs.
  std::optional<int> exit_code();
  /// True if it has started processes that still run.
  bool has_children() const;
  /// Sends it a signal, unless it has ended.
  void send(int signal);
  /// Asks it to end (SIGTERM), and after `patience` seconds kills it and all its group. Returns when it has
  /// ended.
  void end(double patience = 10);

 private:
  int pid_ = -1;
  std::optional<int> code_;
};

}  // namespace convoke::os
