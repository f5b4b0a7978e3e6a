#include "convoke/doctor/network.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "convoke/core/keys.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/clock.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

std::uint32_t bits_of(const sockaddr* address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

std::string dotted(std::uint32_t bits) {
  return fmt::format("{}.{}.{}.{}", bits >> 24, bits >> 16 & 255, bits >> 8 & 255, bits & 255);
}

std::vector<Interface> interfaces_here() {
  std::vector<Interface> list;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return list;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0 || each->ifa_netmask == nullptr) continue;
    list.push_back({.name = each->ifa_name,
                    .address = dotted(bits_of(each->ifa_addr)),
                    .prefix = std::popcount(bits_of(each->ifa_netmask))});
  }
  freeifaddrs(first);
  return list;
}

// `entry` is of a list of Open MPI: "lo" or "10.88.0.0/24".
bool matches(const Interface& interface, const std::string& entry) {
  const std::size_t slash = entry.find('/');
  if (slash == std::string::npos) return interface.name == entry;
  in_addr network{}, address{};
  if (inet_pton(AF_INET, entry.substr(0, slash).c_str(), &network) != 1) return false;
  if (inet_pton(AF_INET, interface.address.c_str(), &address) != 1) return false;
  const int bits = std::clamp(std::atoi(entry.c_str() + slash + 1), 0, 32);
  const std::uint32_t mask = bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits);
  return (ntohl(network.s_addr) & mask) == (ntohl(address.s_addr) & mask);
}

bool in_list(const Interface& interface, const std::string& list) {
  std::istringstream in(list);
  for (std::string entry; std::getline(in, entry, ',');) {
    if (matches(interface, entry)) return true;
  }
  return false;
}

bool loopback(const Interface& interface) { return interface.address.starts_with("127."); }

constexpr std::array kInterfaceFields{
    field<&Interface::name>("name"),
    field<&Interface::address>("address"),
    field<&Interface::prefix>("prefix"),
};

constexpr std::array kNetworkFields{
    field<&HostNetwork::host>("host"),
    field<&HostNetwork::include>("include"),
    field<&HostNetwork::exclude>("exclude"),
    field<&HostNetwork::yields>("yields"),
};

Settings to_settings(const HostNetwork& host) {
  Value::Array interfaces;
  for (const Interface& each : host.interfaces)
    interfaces.emplace_back(convoke::to_settings(kInterfaceFields, each));
  Settings settings = convoke::to_settings(kNetworkFields, host);
  settings.set("interfaces", std::move(interfaces));
  return settings;
}

HostNetwork network_from(const Settings& settings) {
  HostNetwork host = from_settings(kNetworkFields, settings, "network");
  host.interfaces = structs_of(kInterfaceFields, SettingsReader(settings, "network").tables("interfaces"));
  return host;
}

// The networks in which every host has an interface with a different address.
std::vector<std::string> common_networks(const std::vector<HostNetwork>& hosts) {
  std::map<std::string, std::set<std::string>> addresses;  // by network
  for (const HostNetwork& host : hosts) {
    for (const Interface& each : host.interfaces) {
      in_addr address{};
      if (loopback(each) || inet_pton(AF_INET, each.address.c_str(), &address) != 1) continue;
      const std::uint32_t mask = each.prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - each.prefix);
      addresses[fmt::format("{}/{}", dotted(ntohl(address.s_addr) & mask), each.prefix)].insert(each.address);
    }
  }
  std::vector<std::string> common;
  for (const auto& [network, those] : addresses) {
    if (those.size() >= hosts.size()) common.push_back(network);
  }
  return common;
}

bool on(const std::string& variable, bool ask) {
  const std::string value = mpi_setting(variable, "0", ask);
  return value != "0" && value != "false";
}

bool has_more_ranks_than_cores(const run::Sharing& sharing) {
  return sharing.ranks.size() > sharing.cores.size();
}

// The mpirun of Open MPI 4 sets an environment variable if there are too many ranks; that of Open MPI 5 tells
// only the ranks.
bool waiting_ranks_yield(const run::Machine& machine, bool ask) {
  if (on("mpi_oversubscribe", ask)) return true;
  const int node = of_rank(machine.placements, machine.rank).node;
  const std::vector<run::Sharing> shared = run::sharings(machine.placements, node);
  return on("mpi_yield_when_idle", ask || std::ranges::any_of(shared, has_more_ranks_than_cores));
}

std::string include_remedy(const std::vector<HostNetwork>& hosts) {
  const std::vector<std::string> common = common_networks(hosts);
  return fmt::format("export OMPI_MCA_btl_tcp_if_include={} (the network that connects the hosts)",
                     common.empty() ? "NETWORK/BITS" : common.front());
}

constexpr std::size_t kSmall = 8, kLarge = std::size_t{1} << 20;
constexpr int kSmallRounds = 40, kLargeRounds = 6;

double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

// Seconds one way, median over the rounds, of which the first opens the connection. Rank `there` answers.
double ping_pong(std::span<std::byte> message, int rounds, int there, const mpi::Communicator& world) {
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    const os::Stopwatch watch;
    world.send(message, there, mpi::Tag::kLink);
    world.receive(message, there, mpi::Tag::kLink);
    if (round > 0) seconds.push_back(watch.seconds() / 2);
  }
  return median(std::move(seconds));
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
  return median(std::move(seconds));
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

std::vector<HostNetwork> gather_networks(const run::Machine& machine, const mpi::Communicator& world,
                                         bool ask) {
  const HostNetwork mine{.host = machine.host,
                         .interfaces = interfaces_here(),
                         .include = mpi_setting("btl_tcp_if_include", "", ask),
                         .exclude = mpi_setting("btl_tcp_if_exclude", "127.0.0.1/8,sppp", ask),
                         .yields = waiting_ranks_yield(machine, ask)};
  std::vector<HostNetwork> hosts;
  for (const Settings& seen : gather_hosts(to_settings(mine), machine, world)) {
    hosts.push_back(network_from(seen));
  }
  return hosts;
}

std::vector<Interface> usable(const HostNetwork& host) {
  std::vector<Interface> list;
  for (const Interface& each : host.interfaces) {
    const bool may =
        host.include.empty() ? !loopback(each) && !in_list(each, host.exclude) : in_list(each, host.include);
    if (may) list.push_back(each);
  }
  return list;
}

std::vector<Finding> check_networks(const std::vector<HostNetwork>& hosts) {
  if (hosts.size() <= 1) return {};
  std::vector<Finding> found;
  std::map<std::string, std::vector<std::string>> owners;  // "docker0 172.17.0.1": hosts
  std::vector<std::string> uses;
  for (const HostNetwork& host : hosts) {
    std::vector<std::string> texts;
    for (const Interface& each : usable(host)) {
      texts.push_back(fmt::format("{} {}/{}", each.name, each.address, each.prefix));
      owners[each.name + " " + each.address].push_back(host.host);
    }
    if (texts.empty()) {
      // The ranks did find each other.
      found.push_back(note(
          "network",
          fmt::format("{}: the settings leave no interface for MPI over TCP (btl_tcp_if_include = \"{}\", "
                      "btl_tcp_if_exclude = \"{}\"), so messages use another transport",
                      host.host, host.include, host.exclude),
          "to use TCP: " + include_remedy(hosts)));
    }
    uses.push_back(fmt::format("{}: {}", host.host, join(texts)));
  }
  for (const auto& [interface, owning] : owners) {
    if (owning.size() <= 1) continue;
    found.push_back(warning("network",
                            fmt::format("{} is the same on {} hosts ({}), like the bridges of containers: "
                                        "messages to it do not leave the host, and MPI may wait for ever",
                                        interface, owning.size(), join(owning)),
                            include_remedy(hosts)));
  }
  if (found.empty()) {
    found.push_back(ok("network", "MPI over TCP uses " + join(uses, "; ")));
  }
  return found;
}

std::vector<Finding> check_yielding(const run::Machine& machine, const std::vector<HostNetwork>& hosts) {
  std::vector<Finding> found;
  std::size_t index = 0;
  for (const int node : nodes_of(machine.placements)) {
    if (index == hosts.size()) break;
    const HostNetwork& host = hosts[index++];
    for (const run::Sharing& sharing : run::sharings(machine.placements, node)) {
      if (!has_more_ranks_than_cores(sharing) || host.yields) continue;
      found.push_back(
          warning("oversubscription",
                  fmt::format("{}: {} ranks share {}, and a waiting rank keeps its core "
                              "busy: a small message takes 10 ms instead of 0.05 ms",
                              host.host, sharing.ranks.size(), counted(sharing.cores.size(), "core")),
                  "start fewer ranks, or use mpirun --mca mpi_yield_when_idle 1 (mpirun "
                  "--oversubscribe sets it)"));
    }
  }
  return found;
}

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
