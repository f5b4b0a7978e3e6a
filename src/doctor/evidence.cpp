#include "doctor/evidence.hpp"

#include <optional>
#include <set>

#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/library.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::doctor {

std::vector<int> ranks_of(std::span<const run::Placement> placements, int node) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < placements.size(); ++rank) {
    if (placements[rank].node == node) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<int> nodes_of(std::span<const run::Placement> placements) {
  std::set<int> nodes;
  for (const run::Placement& placement : placements) nodes.insert(placement.node);
  return {nodes.begin(), nodes.end()};
}

std::vector<Settings> gather(const Settings& mine, const mpi::Communicator& world) {
  std::vector<Settings> all;
  for (const std::string& text : world.gather(metrics::to_json(mine))) {
    all.push_back(metrics::settings_from_json(text, "evidence"));
  }
  return all;
}

std::vector<Settings> gather_hosts(const Settings& mine, const run::Machine& machine,
                                   const mpi::Communicator& world) {
  std::vector<Settings> all = gather(mine, world), hosts;
  if (all.empty()) return hosts;
  for (const int node : nodes_of(machine.placements))
    hosts.push_back(std::move(all[static_cast<std::size_t>(node)]));
  return hosts;
}

std::string mpi_setting(const std::string& name, const std::string& otherwise, bool ask) {
  if (const std::optional<std::string> value = os::variable("OMPI_MCA_" + name)) return *value;
  return ask ? mpi::control_variable(name).value_or(otherwise) : otherwise;
}

std::string rate_text(double bytes_per_second) {
  return format_bytes(static_cast<std::uint64_t>(bytes_per_second)) + "/s";
}

}  // namespace convoke::doctor
