#include "convoke/doctor/processor.hpp"
#include "convoke/core/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "convoke/core/text.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/environment.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

namespace fs = std::filesystem;

std::string word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

constexpr std::array kProcessorFields{
    field<&Processor::host>("host"),
    field<&Processor::instruction_set>("instruction_set"),
    field<&Processor::model>("model"),
    field<&Processor::governor>("governor"),
    field<&Processor::driver>("driver"),
    field<&Processor::largest_ghz>("largest_ghz"),
    field<&Processor::measured_ghz>("measured_ghz"),
};

void check_instruction_sets(const std::vector<Processor>& ranks, std::vector<Finding>& found) {
  std::map<std::string, std::set<std::string>> hosts;
  for (const Processor& rank : ranks) hosts[rank.instruction_set].insert(rank.host);
  if (hosts.size() <= 1) return;
  std::vector<std::string> parts;
  for (const auto& [set, where] : hosts) {
    parts.push_back(fmt::format("{} on {}", set, fmt::join(where, ", ")));
  }
  found.push_back(
      warning("instruction set",
              fmt::format("ranks have different instruction sets: some wait for others, and they may "
                          "round or store parameters differently: {}",
                          join(parts, "; ")),
              "request nodes of one kind (sbatch --constraint), or use the same set on all ranks: "
              "mpirun -x ONEDNN_MAX_CPU_ISA=AVX2"));
}

void check_governor(const Processor& host, std::vector<Finding>& found) {
  // These drivers raise the clock under load, whatever the governor is called.
  const bool by_itself = host.driver.starts_with("intel_pstate") || host.driver.starts_with("amd-pstate") ||
                         host.driver.starts_with("amd_pstate");
  if (host.governor.empty() || host.governor == "performance" || host.governor == "schedutil" || by_itself) {
    return;
  }
  const bool low = host.governor == "powersave" || host.governor == "userspace";
  found.push_back({low ? Severity::kWarning : Severity::kNote, "clock",
                   fmt::format("{}: the frequency governor of the processor is {}{}", host.host,
                               host.governor, low ? ", which keeps the clock low" : ""),
                   "cpupower frequency-set -g performance (as root, on that host)"});
}

}  // namespace

Processor probe_processor(bool measure, const fs::path& system) {
  Processor processor;
  processor.host = os::host_name();
  processor.instruction_set = nn::backend().instruction_set;
  processor.model = os::cpu_model();
  const fs::path clock = system / fmt::format("cpu/cpu{}/cpufreq", os::allowed_cpus().front());
  processor.governor = word_in(clock / "scaling_governor");
  processor.driver = word_in(clock / "scaling_driver");
  if (double khz = 0; std::ifstream(clock / "cpuinfo_max_freq") >> khz) processor.largest_ghz = khz / 1e6;
  if (measure) processor.measured_ghz = os::measure_clock_ghz();
  return processor;
}

std::vector<Processor> gather_processors(const run::Machine& machine, const mpi::Communicator& world,
                                         bool measure) {
  const Processor mine = probe_processor(measure && machine.local_rank == 0);
  return structs_of(kProcessorFields, gather(to_settings(kProcessorFields, mine), world));
}

std::vector<Finding> check_processors(const std::vector<Processor>& ranks) {
  std::vector<Finding> found;
  check_instruction_sets(ranks, found);
  std::set<std::string> seen;
  double fastest = 0;
  for (const Processor& rank : ranks) fastest = std::max(fastest, rank.measured_ghz);
  for (const Processor& rank : ranks) {
    if (seen.insert(rank.host).second) check_governor(rank, found);
    if (rank.measured_ghz <= 0) continue;
    if (rank.measured_ghz < 0.8 * fastest) {
      found.push_back(
          warning("clock",
                  fmt::format("{}: a busy core runs at {:.2f} GHz, but at {:.2f} GHz on the fastest "
                              "host; in synchronous training all ranks wait for the slowest",
                              rank.host, rank.measured_ghz, fastest),
                  "leave that host out, or check its load, its governor and its temperature"));
    } else if (rank.measured_ghz < 0.6 * rank.largest_ghz) {
      found.push_back(note("clock",
                           fmt::format("{}: a busy core runs at {:.2f} GHz; the maximum is {:.2f} GHz",
                                       rank.host, rank.measured_ghz, rank.largest_ghz),
                           "check its load, its governor and its temperature"));
    }
  }
  if (found.empty()) {
    const Processor& first = ranks.front();
    std::vector<std::string> known;
    if (!first.model.empty()) known.push_back(first.model);
    if (first.measured_ghz > 0) known.push_back(fmt::format("a busy core at {:.2f} GHz", first.measured_ghz));
    found.push_back(ok("instruction set",
                       fmt::format("{} on all ranks{}", first.instruction_set,
                                   known.empty() ? std::string() : fmt::format(" ({})", join(known)))));
  }
  return found;
}

}  // namespace convoke::doctor
