#include "convoke/doctor/link.hpp"
#include "convoke/os/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "convoke/core/text.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

constexpr std::size_t kSmall = 8, kLarge = std::size_t{1} << 20;
constexpr int kSmallRounds = 40, kLargeRounds = 6;

// Seconds one way, median over the rounds, of which the first opens the connection. Rank `there` answers.
double ping_pong(std::span<std::byte> message, int rounds, int there, const mpi::Communicator& world) {
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    const os::Stopwatch watch;
    world.send(message, there, mpi::Tag::kLink);
    world.receive(message, there, mpi::Tag::kLink);
    if (round > 0) seconds.push_back(watch.seconds() / 2);
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[static_cast<std::size_t>(rounds / 2)];
}

// Seconds of a message in each direction at the same time, as ranks exchange gradients; median over the
// rounds. Rank `there` does the same.
double cross(std::span<std::byte> out, std::span<std::byte> in, int there, const mpi::Communicator& world) {
  std::vector<double> seconds;
  for (int round = 0; round < kLargeRounds; ++round) {
    const os::Stopwatch watch;
    mpi::Request sent = world.start_send(out, there, mpi::Tag::kLink);
    world.receive(in, there, mpi::Tag::kLink);
    sent.wait();
    seconds.push_back(watch.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kLargeRounds / 2, seconds.end());
  return seconds[kLargeRounds / 2];
}

void answer(std::span<std::byte> message, int rounds, int there, const mpi::Communicator& world) {
  for (int round = 0; round <= rounds; ++round) {
    world.receive(message, there, mpi::Tag::kLink);
    world.send(message, there, mpi::Tag::kLink);
  }
}

Link measure(int there, const run::Machine& machine, const mpi::Communicator& world) {
  std::vector<std::byte> message(kLarge), received(kLarge);
  Link link{.from = machine.host, .to = of_rank(machine.placements, there).host};
  link.latency_seconds = ping_pong(std::span(message).first(kSmall), kSmallRounds, there, world);
  link.bytes_per_second = kLarge / cross(message, received, there, world);
  return link;
}

void be_measured(int there, const mpi::Communicator& world) {
  std::vector<std::byte> message(kLarge), received(kLarge);
  answer(std::span(message).first(kSmall), kSmallRounds, there, world);
  cross(message, received, there, world);
}

constexpr std::array kLinkFields{field<&Link::from>("host"), field<&Link::latency_seconds>("latency"),
                                 field<&Link::bytes_per_second>("rate")};

std::string describe(const Link& link) {
  return fmt::format("{}: {:.1f} us, {}",
                     link.within() ? "within " + link.from : fmt::format("{} to {}", link.from, link.to),
                     link.latency_seconds * 1e6, rate_text(link.bytes_per_second));
}

}  // namespace

std::vector<Link> measure_links(const run::Machine& machine, const mpi::Communicator& world) {
  constexpr std::size_t kMostHosts = 32;
  // Within the hosts, all at the same time.
  Settings mine;
  const int node = of_rank(machine.placements, machine.rank).node;
  if (machine.local_rank == 0 && machine.local_ranks > 1) {
    mine = to_settings(kLinkFields, measure(ranks_of(machine.placements, node)[1], machine, world));
  } else if (machine.local_rank == 1) {
    be_measured(node, world);
  }
  std::vector<Link> links;
  for (const Settings& seen : gather_hosts(mine, machine, world)) {
    if (seen.empty()) continue;
    links.push_back(from_settings(kLinkFields, seen, "link"));
    links.back().to = links.back().from;
  }
  // Between the hosts, one after the other.
  const std::vector<int> nodes = nodes_of(machine.placements);
  for (const int rank : std::span(nodes).first(std::min(nodes.size(), kMostHosts)).subspan(1)) {
    if (world.root()) links.push_back(measure(rank, machine, world));
    if (world.rank() == rank) be_measured(0, world);
  }
  return links;
}

std::vector<Finding> check_links(const std::vector<Link>& links, std::uint64_t gradient) {
  // Shared memory and Gigabit Ethernet are better than this unless something is wrong.
  constexpr double kSlowWithin = 100e-6, kSlowBetween = 500e-6, kThin = 80e6;
  std::vector<Finding> found;
  for (const Link& link : links) {
    Finding finding = ok("messages", describe(link));
    if (link.within() && link.latency_seconds > kSlowWithin) {
      finding.severity = Severity::kWarning;
      finding.evidence += "; a few microseconds are normal, unless ranks wait for the same core";
      finding.fix = "give each rank its own cores, or use mpirun --mca mpi_yield_when_idle 1";
    } else if (!link.within() && (link.latency_seconds > kSlowBetween || link.bytes_per_second < kThin)) {
      finding.severity = Severity::kWarning;
      finding.evidence += "; Gigabit Ethernet has 50 us and 110 MiB/s";
      finding.fix =
          "select the fast network (export OMPI_MCA_btl_tcp_if_include=NETWORK/BITS), or communicate less "
          "with a larger train.batch or train.mode = \"ensemble\"";
    }
    if (gradient > 0 && link.bytes_per_second > 0 && !link.within()) {
      finding.evidence +=
          fmt::format("; the {} of gradients of each step take at least {:.1f} ms", format_bytes(gradient),
                      static_cast<double>(gradient) / link.bytes_per_second * 1e3);
    }
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace convoke::doctor
