#include "convoke/doctor/binding.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>

#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/library.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/processors.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kLaunchers{"mpirun",  "mpiexec", "orterun", "orted",
                                                     "prterun", "prted",   "prte"};
// Options and settings with which a user chooses where ranks run.
constexpr std::array<std::string_view, 14> kChoices{"bind-to",
                                                    "bind-to-core",
                                                    "--am",
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
// Those of numactl; its other options choose memory.
constexpr std::array kNumactl{"-C", "-N", "--physcpubind", "--cpunodebind"};
constexpr std::array kVariables{
    "OMPI_MCA_hwloc_base_binding_policy",   "OMPI_MCA_rmaps_base_mapping_policy",
    "OMPI_MCA_hwloc_base_cpu_set",          "OMPI_MCA_rmaps_rank_file_path",
    "OMPI_MCA_hwloc_base_cpu_list",         "PRTE_MCA_hwloc_default_binding_policy",
    "PRTE_MCA_rmaps_default_mapping_policy"};

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

// Looks only at the words before the name of the program: the launcher's options, and programs that choose
// cores.
bool says_where(const fs::path& process, int pid) {
  std::ifstream file(process / std::to_string(pid) / "cmdline", std::ios::binary);
  bool numactl = false;
  for (std::string word; std::getline(file, word, '\0');) {
    const fs::path name = fs::path(word).filename();
    if (name == "convoke") return false;
    if (name == "taskset") return true;
    numactl = numactl || name == "numactl";
    if (numactl && std::ranges::any_of(kNumactl, [&](auto o) { return word.starts_with(o); })) return true;
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

// Sorts cores by their NUMA node, then by number.
std::vector<int> by_memory(std::vector<int> cores, std::span<const os::LogicalCpu> host) {
  const auto node_of = [&](int core) {
    const auto it = std::ranges::find_if(host, [&](const auto& cpu) { return cpu.core == core; });
    return it == host.end() ? 0 : it->node;
  };
  std::ranges::stable_sort(cores, [&](int a, int b) { return node_of(a) < node_of(b); });
  return cores;
}

AvailableCores available_here(std::span<const os::LogicalCpu> host) {
  const std::vector<int> allowed = os::allowed_cpus();
  const Launching launcher = launching(getppid());
  const std::vector<int>& cpus = launcher.cpus.empty() ? allowed : launcher.cpus;
  return {.cores = by_memory(os::cores_of(cpus, host), host), .chosen = launcher.chosen};
}

constexpr std::array kAvailableFields{
    field<&AvailableCores::cores>("cores"),
    field<&AvailableCores::chosen>("chosen"),
    field<&AvailableCores::refused>("refused"),
};

std::vector<AvailableCores> of_all(const AvailableCores& mine, const mpi::Communicator& world) {
  const std::vector<Settings> gathered = gather(to_settings(kAvailableFields, mine), world);
  const std::string all = world.broadcast(metrics::list_to_json(gathered));
  std::vector<AvailableCores> available = structs_of(kAvailableFields, metrics::list_from_json(all));
  // Only the host of mpirun sees its command line.
  const bool chosen = std::ranges::any_of(available, [](const AvailableCores& l) { return l.chosen; });
  for (AvailableCores& each : available) each.chosen = chosen;
  return available;
}

// Moves this rank to `cores`, on those of their hardware threads that the launcher may use.
std::string move_to(std::span<const int> cores, std::span<const os::LogicalCpu> host) {
  const Launching launcher = launching(getppid());
  std::vector<int> cpus;
  for (const os::LogicalCpu& cpu : host) {
    const bool ours = std::find(cores.begin(), cores.end(), cpu.core) != cores.end();
    const bool may = std::binary_search(launcher.cpus.begin(), launcher.cpus.end(), cpu.cpu);
    if (ours && may) cpus.push_back(cpu.cpu);
  }
  return cpus.empty() ? "the cores are no longer available" : os::allow_cpus(cpus);
}

std::string ranks_text(std::span<const int> ranks) {
  return fmt::format("{} {}", plural(std::ssize(ranks), "rank"), os::format_ranges(ranks));
}
std::string cores_text(std::span<const int> cores) {
  std::vector<int> sorted(cores.begin(), cores.end());
  std::ranges::sort(sorted);
  return fmt::format("{} {}", plural(std::ssize(sorted), "core"), os::format_ranges(sorted));
}

std::size_t node_cores(std::span<const AvailableCores> available, std::span<const int> ranks) {
  std::set<int> all;
  for (const int rank : ranks) {
    all.insert(of_rank(available, rank).cores.begin(), of_rank(available, rank).cores.end());
  }
  return all.size();
}

// The options that give `ranks` ranks the `cores` cores of a node.
std::string right_options(std::size_t ranks, std::size_t cores) {
  const std::size_t share = cores / std::max<std::size_t>(1, ranks);
  if (share <= 1) return "mpirun --bind-to none";
  return fmt::format("mpirun --map-by slot:PE={}, or --bind-to none", share);
}

std::string describe_fix(std::span<const run::Placement> before, std::span<const std::vector<int>> better) {
  for (std::size_t rank = 0; rank < better.size(); ++rank) {
    if (better[rank].empty()) continue;
    const auto moved = std::ranges::count_if(better, [](const auto& to) { return !to.empty(); });
    return fmt::format(
        "binding fixed: the launcher had bound {} to fewer cores than there are; rank {} on {} now has {} "
        "instead of {}{}",
        counted(moved, "rank"), rank, before[rank].host, cores_text(better[rank]),
        cores_text(before[rank].cores), moved == 1 ? "" : ", and similarly for the others");
  }
  return {};
}

}  // namespace

std::vector<Finding> check_launcher(const run::Machine& machine) {
  if (std::string warning = mpi::launcher_warning(machine.ranks); !warning.empty()) {
    return {error("launcher", std::move(warning),
                  fmt::format("use the mpirun of {} (see mpirun --version), or srun --mpi=pmix",
                              mpi::Session::library_version()))};
  }
  return {ok("launcher", fmt::format("{} in one MPI world on {}, {}", counted(machine.ranks, "rank"),
                                     counted(machine.nodes, "host"), mpi::Session::library_version()))};
}

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

std::vector<std::vector<int>> better_cores(std::span<const run::Placement> placements,
                                           std::span<const AvailableCores> available, int threads) {
  std::vector<std::vector<int>> better(placements.size());
  for (const int node : nodes_of(placements)) {
    const std::vector<int> ranks = ranks_of(placements, node);
    if (of_rank(available, node).chosen) continue;
    std::vector<int> cores = of_rank(available, node).cores;
    for (const int rank : ranks) {  // each daemon of the node has cores; only simulated nodes have several
      for (const int core : of_rank(available, rank).cores) {
        if (std::find(cores.begin(), cores.end(), core) == cores.end()) cores.push_back(core);
      }
    }
    const std::size_t share = cores.size() / ranks.size();
    const std::vector<run::Sharing> now = run::sharings(placements, node);
    std::size_t used = 0;
    for (const run::Sharing& sharing : now) used += sharing.cores.size();
    if (used >= cores.size()) continue;  // no other cores are left
    const bool bad = std::ranges::any_of(now, [&](const run::Sharing& sharing) {
      const std::size_t wanted = sharing.ranks.size() * static_cast<std::size_t>(std::max(1, threads));
      const bool crowded = wanted > sharing.cores.size();
      const bool narrow = threads == 0 && sharing.cores.size() == 1 && share > 1;
      return crowded || narrow;
    });
    if (!bad) continue;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      std::vector<int>& mine = better[static_cast<std::size_t>(ranks[i])];
      mine = cores;
      if (share == 0) continue;  // more ranks than cores: the system divides them
      const auto first = cores.begin() + static_cast<std::ptrdiff_t>(i * share);
      mine.assign(first, first + static_cast<std::ptrdiff_t>(share));
      if (std::ranges::is_permutation(mine, of_rank(placements, ranks[i]).cores)) mine.clear();
    }
  }
  return better;
}

Binding fix_binding(const mpi::Communicator& world, int threads) {
  Binding binding;
  binding.machine = run::survey(world);
  const std::vector<os::LogicalCpu> host = os::online_cpus();
  AvailableCores mine = available_here(host);
  binding.available = of_all(mine, world);
  const auto is_empty = [](const auto& cores) { return cores.empty(); };
  auto better = better_cores(binding.machine.placements, binding.available, threads);
  if (std::ranges::all_of(better, is_empty)) return binding;

  // Before ranks are moved: a settings file of Open MPI may have chosen a binding, too.
  mine.chosen = mine.chosen || !mpi_setting("hwloc_base_binding_policy", "", true).empty();
  binding.available = of_all(mine, world);
  better = better_cores(binding.machine.placements, binding.available, threads);
  if (std::ranges::all_of(better, is_empty)) return binding;
  const std::vector<int>& cores = better[static_cast<std::size_t>(world.rank())];
  if (!cores.empty()) mine.refused = move_to(cores, host);
  binding.available = of_all(mine, world);
  binding.fixed = describe_fix(binding.machine.placements, better);
  binding.machine = run::survey(world);
  if (std::ranges::any_of(binding.available,
                          [](const AvailableCores& available) { return !available.refused.empty(); })) {
    binding.fixed.clear();
  }
  return binding;
}

std::vector<Finding> check_binding(const Binding& binding, int threads) {
  const run::Machine& machine = binding.machine;
  std::vector<Finding> found;
  for (const int node : nodes_of(machine.placements)) {
    const std::vector<int> ranks = ranks_of(machine.placements, node);
    const std::string& host = of_rank(machine.placements, node).host;
    const std::size_t there = node_cores(binding.available, ranks);
    const std::vector<run::Sharing> sharings = run::sharings(machine.placements, node);
    std::size_t used = 0;
    for (const run::Sharing& sharing : sharings) used += sharing.cores.size();
    bool crowded = false;
    for (const run::Sharing& sharing : sharings) {
      int running = 0;
      for (const int rank : sharing.ranks) running += machine.threads_of(rank, threads);
      if (running <= static_cast<int>(sharing.cores.size())) continue;
      crowded = true;
      Finding finding{.severity = Severity::kWarning, .subject = "binding"};
      finding.evidence = fmt::format("{}: {} run{} {} threads on {}", host, ranks_text(sharing.ranks),
                                     sharing.ranks.size() > 1 ? "" : "s", running, cores_text(sharing.cores));
      const AvailableCores& available = of_rank(binding.available, sharing.ranks.front());
      if (used < there) {  // while other cores are idle
        if (sharing.cores.size() == 1 || sharing.ranks.size() > sharing.cores.size()) {
          finding.severity = Severity::kError;
        }
        finding.evidence += fmt::format(", although the launcher has {} cores here", there);
        finding.evidence += !available.refused.empty()
                                ? fmt::format(", and the system refuses other cores: {}", available.refused)
                            : available.chosen
                                ? ", because its options, or taskset or numactl in the command, say so"
                                : "";
        finding.fix =
            fmt::format("{}{}", available.chosen ? "remove taskset or numactl from the command, or " : "",
                        right_options(ranks.size(), there));
      } else {
        finding.fix =
            "start fewer ranks, lower run.threads, or give each rank its own cores (mpirun --map-by "
            "slot:PE=N)";
      }
      found.push_back(std::move(finding));
    }
    if (!crowded && used < there && ranks.size() * 2 <= there) {
      found.push_back(note("binding",
                           fmt::format("{}: {} {} only {} of the {} cores that the launcher has here", host,
                                       ranks_text(ranks), ranks.size() == 1 ? "uses" : "use", used, there),
                           right_options(ranks.size(), there)));
    }
  }
  return found;
}

std::vector<Finding> check_quota(const run::Machine& machine, int threads) {
  std::vector<Finding> found;
  for (const int node : nodes_of(machine.placements)) {
    const run::Placement& first = of_rank(machine.placements, node);
    if (first.quota <= 0) continue;
    int running = 0;
    std::size_t cores = 0;
    for (const int rank : ranks_of(machine.placements, node)) running += machine.threads_of(rank, threads);
    for (const run::Sharing& sharing : run::sharings(machine.placements, node)) cores += sharing.cores.size();
    Finding finding{.severity = Severity::kNote, .subject = "quota"};
    if (running > std::ceil(first.quota)) {
      finding.severity = Severity::kWarning;
      finding.evidence = fmt::format("{}: {} threads, but the control group grants {:.1f} CPUs", first.host,
                                     running, first.quota);
      finding.fix = "lower run.threads, start fewer ranks or raise the limit (docker run --cpus=N)";
    } else {
      finding.evidence =
          fmt::format("{}: the control group grants {:.1f} CPUs on {} cores", first.host, first.quota, cores);
      if (static_cast<double>(cores) > first.quota) {
        finding.fix = "to use all cores, raise the limit (docker run --cpus=N)";
      }
    }
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace convoke::doctor
