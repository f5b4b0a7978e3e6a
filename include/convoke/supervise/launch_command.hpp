#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::supervise {

/// A host on which a launcher may start ranks.
struct LaunchHost {
  std::string name;
  int slots = 0;  ///< number of ranks that it may get; 0: not stated, the launcher decides
  friend bool operator==(const LaunchHost&, const LaunchHost&) = default;
};

/// True for the mpirun or mpiexec of an MPI library, also with a folder.
bool is_mpirun(const std::string& word);

/// Returns the hosts of the lines "a slots=2" of a hostfile of Open MPI. Throws Error if it cannot be read.
std::vector<LaunchHost> hosts_in_file(const std::filesystem::path& file);

/// The words of a command that starts `convoke train`, alone or on ranks: `mpirun -n 4 --host a:2,b:2 convoke
/// train RECIPE --output RUN`. It can be started again on fewer hosts, from the last checkpoint.
class LaunchCommand {
 public:
  /// Throws Error if the words do not contain `convoke train`, or name no run folder.
  explicit LaunchCommand(std::vector<std::string> words);

  const std::vector<std::string>& words() const { return words_; }
  /// The folder of --output or --resume, in the folder of the launcher's --wdir or --chdir if it has one.
  const std::filesystem::path& run() const { return run_; }
  /// The number after -n or -np (srun: -n or --ntasks); 0: not stated.
  int ranks() const;
  /// True if mpirun or srun starts the ranks.
  bool by_mpirun() const { return launcher_ == Launcher::kMpirun; }
  bool by_srun() const { return launcher_ == Launcher::kSrun; }
  /// The hosts that --host or --hostfile name now; empty if the command has neither.
  std::vector<LaunchHost> hosts() const;
  /// The program that reaches another host, with its options: that of `--mca plm_rsh_agent`; empty: not
  /// stated.
  std::string agent() const;

  /// Returns the command that continues the run on `left`, some of the hosts `all` that the command had at
  /// first. The ranks are at most the slots that are left. With more ranks than slots at first, the same
  /// share of them is left.
  LaunchCommand again(const std::vector<LaunchHost>& all, const std::vector<LaunchHost>& left) const;

 private:
  enum class Launcher { kNone, kMpirun, kSrun };

  std::span<const std::string_view> rank_names() const;  ///< of the option with the number of ranks

  std::vector<std::string> words_;
  std::size_t program_ = 0;        ///< index of the word convoke
  std::size_t options_begin_ = 0;  ///< index of the word after the launcher; `program_` if there is none
  std::size_t options_end_ = 0;    ///< index of the first word after the launcher's options, if known
  Launcher launcher_ = Launcher::kNone;
  std::filesystem::path run_;
};

}  // namespace convoke::supervise
