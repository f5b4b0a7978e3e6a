#include "doctor/evidence.hpp"

#include <optional>

#include "convoke/metrics/json.hpp"
#include "convoke/mpi/control_variable.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::doctor {

std::vector<Settings> gather(const Settings& mine, const mpi::Communicator& world) {
  std::vector<Settings> all;
  for (const std::string& text : world.gather(metrics::to_json(mine))) {
    all.push_back(metrics::settings_from_json(text, "evidence"));
  }
  return all;
}

std::vector<Settings> gather_hosts(const Settings& mine, const run::Machine& machine,
                                   const mpi::Communicator& world) {
  std::vector<Settings> hosts;
  int rank = 0;
  for (Settings& seen : gather(mine, world)) {
    if (machine.placements[static_cast<std::size_t>(rank)].node == rank) hosts.push_back(std::move(seen));
    ++rank;
  }
  return hosts;
}

std::string mpi_setting(const std::string& name, const std::string& otherwise, bool ask) {
  if (const std::optional<std::string> value = os::variable("OMPI_MCA_" + name)) return *value;
  return ask ? mpi::control_variable(name).value_or(otherwise) : otherwise;
}

}  // namespace convoke::doctor
