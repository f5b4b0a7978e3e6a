#include "convoke/run/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::run {

namespace {

Value::Array placements(const Machine& machine) {
  Value::Array list;
  int rank = 0;
  for (const Placement& placement : machine.placements) {
    Settings entry{{"rank", rank++}, {"host", placement.host}, {"cores", os::format_ranges(placement.cores)}};
    if (placement.quota > 0) entry.set("quota", placement.quota);
    list.emplace_back(std::move(entry));
  }
  return list;
}

// As a user would type it.
std::string command() {
  std::vector<std::string> words = os::command_line();
  std::ranges::transform(words, words.begin(), shell_word);
  return join(words, " ");
}

std::int64_t cores_of_node() {
  std::set<int> cores;
  for (const os::LogicalCpu& cpu : os::online_cpus()) cores.insert(cpu.core);
  return std::ssize(cores);
}

}  // namespace

std::string convoke_version() { return CONVOKE_VERSION; }

std::string build_type() {
  constexpr std::string_view kType = CONVOKE_BUILD_TYPE;
#ifdef NDEBUG
  return std::string(kType);
#else
  return fmt::format("{}, with assertions", kType);
#endif
}

Settings environment(const Machine& machine, int threads) {
  const nn::Backend backend = nn::backend();
  Settings all{{"format", metrics::kFileFormat},
               {"date", os::utc_now()},
               {"command", command()},
               {"convoke", convoke_version()},
               {"build", build_description()},
               {"build_type", build_type()},
               {"compiler", __VERSION__},
               {"mpi", mpi::Session::library_version()},
               {"onednn", backend.version},
               {"instruction_set", backend.instruction_set},
               {"cpu", os::cpu_model()},
               {"logical_cpus", static_cast<std::int64_t>(std::thread::hardware_concurrency())},
               {"cores", cores_of_node()},
               {"memory", memory_kind()},
               {"nodes", machine.nodes},
               {"ranks", machine.ranks},
               {"threads", threads},
               {"placements", placements(machine)}};
  // The cores are then not those of this host.
  if (const std::string text = os::pretended_topology(); !text.empty()) all.set("pretended_topology", text);
  return all;
}

void describe_run(const RunFolder& folder, const std::string& recipe, const Machine& machine, int threads,
                  const mpi::Communicator& world) {
  mpi::on_root(world, [&] {
    os::replace_text(folder.file("recipe.toml"), recipe);
    os::replace_text(folder.file("environment.json"),
                     metrics::to_json(environment(machine, threads), true) + "\n");
  });
}

}  // namespace convoke::run
