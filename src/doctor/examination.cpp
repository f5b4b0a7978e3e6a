#include "convoke/doctor/examination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/doctor/binding.hpp"
#include "convoke/doctor/host_clock.hpp"
#include "convoke/doctor/network.hpp"
#include "convoke/doctor/processor.hpp"
#include "convoke/doctor/shared_memory.hpp"
#include "convoke/doctor/storage.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/equal_ranks.hpp"
#include "convoke/train/memory.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

using Findings = std::vector<Finding>;

Findings launcher(const Context& context) { return check_launcher(context.binding.machine); }

Findings programs(const Context& context) {
  try {
    run::require_equal_programs(context.world);
    return {};
  } catch (const mpi::GroupError& error) {
    return {doctor::error("program", error.what(), error.hint())};
  }
}

Findings openmp(const Context&) {
  const std::vector<std::string> hidden = os::hidden_openmp_binding();
  if (hidden.empty()) return {};
  return {note("openmp",
               fmt::format("{} {} ignored: OpenMP would put all threads of a rank on the same core",
                           join(hidden), hidden.size() == 1 ? "is" : "are"),
               "none needed; to choose cores, use mpirun's options or taskset -c")};
}

Findings binding(const Context& context) {
  Findings found = check_binding(context.binding, context.threads);
  if (!context.binding.fixed.empty()) {
    found.push_back(
        note("binding", context.binding.fixed, "none needed; mpirun --bind-to none avoids the fix"));
  }
  if (found.empty()) {
    found.push_back(ok("binding", "each thread has its own core"));
  }
  return found;
}

Findings quota(const Context& context) { return check_quota(context.binding.machine, context.threads); }

Findings topology(const Context& context) {
  const run::Machine& machine = context.binding.machine;
  const Topology seen = gather_topology(machine, context.world);
  Findings found;
  if (const std::string pretended = os::pretended_topology(); !pretended.empty()) {
    found.push_back(warning(
        "topology", fmt::format("the cores are those of CONVOKE_TOPOLOGY ({}), not of this host", pretended),
        "unset CONVOKE_TOPOLOGY before you train"));
  }
  for (const Findings& each :
       {check_smt(machine, seen, context.threads), check_numa(machine, seen), check_speeds(machine, seen)}) {
    found.insert(found.end(), each.begin(), each.end());
  }
  return found;
}

Findings processor(const Context& context) {
  const auto ranks = gather_processors(context.binding.machine, context.world, !context.quick);
  return context.world.root() ? check_processors(ranks) : Findings();
}

Findings shared_memory(const Context& context) {
  const auto hosts = gather_shared_memory(context.binding.machine, context.world, !context.quick);
  return check_shared_memory(hosts);
}

Findings network(const Context& context) {
  const auto hosts = gather_networks(context.binding.machine, context.world, !context.quick);
  Findings found = check_networks(hosts);
  Findings waiting = check_yielding(context.binding.machine, hosts);
  std::move(waiting.begin(), waiting.end(), std::back_inserter(found));
  return found;
}

Findings messages(const Context& context) {
  if (context.quick) return {};
  const auto links = measure_links(context.binding.machine, context.world);
  const int ranks = context.world.size();
  return check_links(links, context.demand == nullptr ? 0 : exchanged_bytes(context.demand->job, ranks));
}

Findings host_clock(const Context& context) {
  if (context.quick) return {};
  return check_clock_offsets(measure_clock_offsets(context.binding.machine, context.world));
}

constexpr std::array kStorageFields{
    field<&Storage::host>("host"),
    field<&Storage::role>("role"),
    field<&Storage::path>("path"),
    field<&Storage::failure>("failure"),
    field<&Storage::type>("type"),
    field<&Storage::free>("free"),
    field<&Storage::write_rate>("write_rate"),
    field<&Storage::read_rate>("read_rate"),
    field<&Storage::locking_refused>("locking_refused"),
};

// Rank 0 writes runs; every host reads the dataset.
Findings storage(const Context& context) {
  std::vector<Storage> places;
  if (context.world.root()) places.push_back(probe_runs(context.runs, !context.quick));
  if (context.demand != nullptr) {
    Settings mine;
    if (context.binding.machine.local_rank == 0) {
      mine = to_settings(kStorageFields, probe_dataset(context.demand->layout.first, !context.quick));
    }
    const auto hosts = structs_of(kStorageFields, gather_hosts(mine, context.binding.machine, context.world));
    places.insert(places.end(), hosts.begin(), hosts.end());
  }
  const std::uint64_t checkpoint =
      context.demand == nullptr ? 0 : train::checkpoint_bytes(context.demand->job);
  return check_storage(places, checkpoint, hdf5_must_lock());
}

Findings dataset(const Context& context) {
  const Demand* demand = context.demand;
  if (demand == nullptr) return {};
  return check_dataset(demand->layout, demand->dataset, demand->streamed, demand->shuffles_all);
}

Findings micro_batches(const Context& context) {
  return context.demand == nullptr ? Findings()
                                   : check_micro_batches(context.demand->job, context.world.size(),
                                                         context.demand->loaders.training.split().count());
}

Findings memory(const Context& context) {
  return context.demand == nullptr ? Findings() : examine_memory(*context.demand, context.world);
}

/// Collective; the findings of rank 0 count.
using Check = Findings (*)(const Context&);

constexpr std::array<Check, 15> kChecks{launcher,      programs,  binding,    openmp,        quota,
                                        topology,      processor, host_clock, network,       messages,
                                        shared_memory, storage,   dataset,    micro_batches, memory};

// Gives the findings of the root to all ranks.
Findings shared_by_root(const Findings& found, const mpi::Communicator& world) {
  const std::string text =
      world.broadcast(world.root() ? metrics::to_json({{"findings", to_values(found)}}) : std::string());
  const Settings settings = metrics::settings_from_json(text, "findings");
  SettingsReader read(settings, "findings");
  return findings_from(read.tables("findings"));
}

}  // namespace

std::vector<Finding> examine(const Context& context) {
  Findings all;
  for (const Check check : kChecks) {
    Findings found = check(context);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return shared_by_root(all, context.world);
}

std::string to_text(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8} {:<16} {}\n", to_string(finding.severity), finding.subject, finding.evidence);
    if (!finding.fix.empty()) text += fmt::format("{:>25} {}\n", "fix:", finding.fix);
  }
  return text;
}

std::string short_text(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity < Severity::kWarning) continue;
    text += fmt::format("{}: {}\n", to_string(finding.severity), finding.evidence);
    if (!finding.fix.empty()) text += fmt::format("  hint: {}\n", finding.fix);
  }
  return text;
}

void require_health(std::span<const Finding> findings, bool ignore) {
  const auto it = std::ranges::find_if(
      findings, [](const Finding& finding) { return finding.severity == Severity::kError; });
  if (ignore || it == findings.end()) return;
  throw Error(it->evidence, fmt::format("{}; or start anyway with --ignore-doctor", it->fix));
}

}  // namespace convoke::doctor
