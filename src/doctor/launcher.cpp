#include "convoke/doctor/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "convoke/core/text.hpp"
#include "convoke/mpi/launcher.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/processors.hpp"

namespace convoke::doctor {

std::vector<Finding> check_launcher(const run::Machine& machine) {
  if (std::string warning = mpi::launcher_warning(machine.ranks); !warning.empty()) {
    return {error("launcher", std::move(warning),
                  fmt::format("use the mpirun of {} (see mpirun --version), or srun --mpi=pmix",
                              mpi::Session::library_version()))};
  }
  return {ok("launcher", fmt::format("{} in one MPI world on {}, {}", counted(machine.ranks, "rank"),
                                     counted(machine.nodes, "host"), mpi::Session::library_version()))};
}

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kLaunchers{"mpirun",  "mpiexec", "orterun", "orted",
                                                     "prterun", "prted",   "prte"};
// Options and settings with which a user chooses where ranks run.
constexpr std::array<std::string_view, 12> kChoices{"bind-to",
                                                    "map-by",
                                                    "cpu-set",
                                                    "cpu-list",
                                                    "rankfile",
                                                    "-rf",
                                                    "cpus-per-proc",
                                                    "cpus-per-rank",
                                                    "hwloc_base_binding_policy",
                                                    "hwloc_default_binding_policy",
                                                    "rmaps_base_mapping_policy",
                                                    "rmaps_default_mapping_policy"};
constexpr std::array kVariables{
    "OMPI_MCA_hwloc_base_binding_policy",    "OMPI_MCA_rmaps_base_mapping_policy",
    "OMPI_MCA_hwloc_base_cpu_set",           "OMPI_MCA_rmaps_rank_file_path",
    "PRTE_MCA_hwloc_default_binding_policy", "PRTE_MCA_rmaps_default_mapping_policy"};

// A value of /proc/<pid>/status, such as "Cpus_allowed_list:\t0-1".
std::string status(const fs::path& process, int pid, const std::string& key) {
  std::ifstream file(process / std::to_string(pid) / "status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return line.substr(line.find_first_not_of(" \t", key.size() + 1));
  }
  return {};
}

bool is_launcher(std::string_view name) {  // Debian has names like "mpirun.openmpi"
  return std::find(kLaunchers.begin(), kLaunchers.end(), name.substr(0, name.find('.'))) != kLaunchers.end();
}

// Looks only at the launcher's own options, which end at the name of the program.
bool says_where(const fs::path& process, int pid) {
  std::ifstream file(process / std::to_string(pid) / "cmdline", std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) {
    if (fs::path(word).filename() == "convoke") return false;
    for (const std::string_view choice : kChoices) {
      const std::size_t at = word.find_first_not_of('-');
      const std::string_view bare = at == std::string::npos ? std::string_view() : &word[at];
      if (bare == choice || word == choice) return true;
    }
  }
  return false;
}

bool chosen_here() {
  return std::ranges::any_of(kVariables, [](const char* name) { return os::variable(name).has_value(); });
}

}  // namespace

Launching launching(int parent, const fs::path& process) {
  Launching found;
  for (int pid = parent, depth = 0; pid > 1 && depth < 16; ++depth) {
    if (is_launcher(status(process, pid, "Name"))) {
      found.cpus = os::parse_ranges(status(process, pid, "Cpus_allowed_list"));
      found.chosen = chosen_here() || says_where(process, pid);
      return found;
    }
    pid = std::atoi(status(process, pid, "PPid").c_str());
  }
  return found;
}

}  // namespace convoke::doctor
