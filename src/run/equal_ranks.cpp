#include "convoke/run/equal_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/process.hpp"
#include "convoke/run/environment.hpp"

namespace convoke::run {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;  // "name", "value"

std::string value_in(const Facts& facts, const std::string& name) {
  const auto it =
      std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == name; });
  return it == facts.end() ? "absent" : it->second;
}

void compare(const Facts& mine, const Facts& of_root, const std::string& root_host, int rank,
             const std::string& hint) {
  Facts all = mine;
  all.insert(all.end(), of_root.begin(), of_root.end());
  for (const auto& [name, value] : all) {
    const std::string here = value_in(mine, name);
    const std::string there = value_in(of_root, name);
    if (here == there) continue;
    throw Error(fmt::format("{} differs: {} on rank {} (host {}), {} on rank 0 (host {})", name, here, rank,
                            os::host_name(), there, root_host),
                hint);
  }
}

}  // namespace

// Every rank compares with rank 0, so a job of a thousand ranks sends one short text to all of them.
void require_equal(const mpi::Communicator& world, const Settings& facts, const std::string& hint) {
  if (world.size() == 1) return;
  const std::string mine = metrics::to_json(facts);
  const std::string of_root = world.broadcast(mine);
  const std::string root_host = world.broadcast(os::host_name());
  mpi::together(world, [&] {
    if (mine == of_root) return;
    compare(flattened(facts), flattened(metrics::settings_from_json(of_root, "the facts of rank 0")),
            root_host, world.rank(), hint);
  });
}

void require_equal_programs(const mpi::Communicator& world) {
  require_equal(world,
                {{"Convoke's version", convoke_version()},
                 {"Convoke's build", build_description()},
                 {"the MPI library", mpi::Session::library_version()}},
                "start one program on all ranks; on hosts with folders of their own, install it again");
}

void require_equal_arithmetic(const mpi::Communicator& world) {
  const nn::Backend backend = nn::backend();
  require_equal(
      world, {{"oneDNN's version", backend.version}, {"oneDNN's instruction set", backend.instruction_set}},
      "use hosts of one kind, or one instruction set that all have: mpirun -x "
      "ONEDNN_MAX_CPU_ISA=AVX2; or train.reduction = \"fast\"");
}

}  // namespace convoke::run
