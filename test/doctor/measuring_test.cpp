// Collective measurements of ranks; run with several numbers of ranks.
#include "convoke/doctor/examination.hpp"
#include "convoke/doctor/host_clock.hpp"
#include "convoke/doctor/network.hpp"
#include "convoke/doctor/processor.hpp"
#include "convoke/doctor/shared_memory.hpp"
#include "convoke/mpi/library.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/processors.hpp"
#include "doctor/told.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

namespace doctor = convoke::doctor;
namespace mpi = convoke::mpi;
namespace os = convoke::os;
namespace run = convoke::run;

namespace {

/// A machine with every rank on a separate, simulated host.
run::Machine scattered() {
  std::vector<run::Placement> placements;
  for (int rank = 0; rank < world().size(); ++rank) {
    placements.push_back({"host" + std::to_string(rank), rank, {0}, 0});
  }
  return run::machine_of(placements, world().rank());
}

}  // namespace

TEST_CASE("the offset of a clock is measured within the round trip time") {
  const double ahead = 5.0 * world().rank();
  const auto offsets =
      doctor::measure_clock_offsets(scattered(), world(), [&] { return os::seconds_since_1970() + ahead; });
  CHECK(offsets.size() == (world().root() ? static_cast<std::size_t>(world().size() - 1) : 0));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    CHECK(offsets[i].host == "host" + std::to_string(i + 1));
    CHECK(std::abs(offsets[i].seconds - 5.0 * static_cast<double>(i + 1)) <= offsets[i].uncertainty + 1e-3);
    CHECK(offsets[i].uncertainty < 1);
  }
}

TEST_CASE("messages are measured within hosts and between them") {
  const run::Machine here = run::survey(world());
  const auto within = doctor::measure_links(here, world());
  const auto between = doctor::measure_links(scattered(), world());
  if (world().root()) {
    CHECK(within.size() == (world().size() > 1 ? 1 : 0));
    CHECK(between.size() == static_cast<std::size_t>(world().size() - 1));
    for (const doctor::Link& link : within) CHECK(link.within());
    for (const doctor::Link& link : between) {
      CHECK_FALSE(link.within());
      CHECK(link.latency_seconds > 0);
      CHECK(link.bytes_per_second > 0);
    }
  } else {
    CHECK(within.empty());
  }
}

TEST_CASE("each host and each rank is described once") {
  const run::Machine machine = run::survey(world());
  const auto processors = doctor::gather_processors(machine, world(), false);
  const doctor::Topology topology = doctor::gather_topology(machine, world());
  const auto networks = doctor::gather_networks(machine, world(), true);
  const auto rooms = doctor::gather_shared_memory(machine, world(), true);
  if (world().root()) {
    CHECK(processors.size() == static_cast<std::size_t>(world().size()));
    CHECK(topology.cpus.size() == static_cast<std::size_t>(world().size()));
    CHECK(topology.hosts.size() == 1);
    CHECK(topology.hosts.at(0).size() == os::online_cpus().size());
    CHECK(networks.size() == 1);
    const auto loopback = [](const doctor::Interface& each) { return each.address == "127.0.0.1"; };
    CHECK(std::any_of(networks[0].interfaces.begin(), networks[0].interfaces.end(), loopback));
    CHECK(rooms.size() == 1);
    CHECK(rooms[0].ranks == world().size());
    CHECK(rooms[0].total > 0);
  } else {
    CHECK(processors.empty());
    CHECK(rooms.empty());
  }
}

TEST_CASE("all ranks have the findings of the root") {
  const doctor::Binding binding = doctor::fix_binding(world(), 1);
  const auto found = doctor::examine(
      {.world = world(), .binding = binding, .threads = 1, .quick = true, .runs = fs::temp_directory_path()});
  const std::string mine = doctor::to_text(found);
  CHECK(mine == world().broadcast(mine));
  CHECK(found.at(0).subject == "launcher");
  CHECK(found.at(0).severity == doctor::Severity::kOk);
}

TEST_CASE("a job that does not fit into memory is a finding, on all ranks") {
  convoke::train::Job job = tiny::job();
  const tiny::Pictures pictures(64);
  const auto loader = pictures.loader();
  const convoke::train::DataLoaders loaders(loader);
  const auto groups = convoke::train::split(world(), job.ensemble.members);
  doctor::Demand plan{.job = job, .loaders = loaders, .groups = groups, .dataset = "d.h5", .layout = {}};
  const auto fits = doctor::examine_memory(plan, world());
  CHECK(fits.size() == 1);
  CHECK(fits[0].severity == doctor::Severity::kOk);
  // The samples take their part, although they are not in memory yet; the program so far counts once.
  CHECK_THAT(fits[0].evidence, StartsWith("a rank takes ") && Contains(" more, "));
  job.memory.node_bytes = std::uint64_t{1} << 50;
  plan.layout.bytes = job.memory.node_bytes;
  CHECK(doctor::examine_memory(plan, world())[0].severity == doctor::Severity::kError);
  plan.streamed = true;
  CHECK(doctor::examine_memory(plan, world())[0].severity == doctor::Severity::kOk);
  job.memory.node_bytes = std::uint64_t{1} << 20;
  const auto large = doctor::examine_memory(plan, world());
  CHECK(large.size() == 1);
  CHECK_THAT(told(large[0]), StartsWith("error: ") && Contains("tiny does not fit into memory"));
}

TEST_CASE("control variables of MPI are read by name") {
  CHECK_FALSE(mpi::control_variable("no_such_variable"));
  if (mpi::Session::library_version().starts_with("Open MPI")) {  // the tests set this variable
    CHECK(mpi::control_variable("mpi_yield_when_idle") == "1");
  }
}
