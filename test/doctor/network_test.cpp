#include "convoke/doctor/network.hpp"

#include "convoke/doctor/host_clock.hpp"
#include "doctor/told.hpp"

namespace doctor = convoke::doctor;
using doctor::HostNetwork;

namespace {

const doctor::Interface kLoopback{"lo", "127.0.0.1", 8};
const doctor::Interface kBridge{"docker0", "172.17.0.1", 16};

HostNetwork host(const std::string& name, const std::string& address, const std::string& include = "",
                 const std::string& exclude = "127.0.0.1/8,sppp") {
  return {
      .host = name, .interfaces = {kLoopback, {"eth0", address, 24}}, .include = include, .exclude = exclude};
}

std::vector<std::string> names(const HostNetwork& host) {
  std::vector<std::string> list;
  for (const doctor::Interface& each : doctor::usable(host)) list.push_back(each.name);
  return list;
}

}  // namespace

TEST_CASE("interfaces are those that the settings of Open MPI allow") {
  using Names = std::vector<std::string>;
  CHECK(names(host("a", "10.0.0.1")) == Names{"eth0"});
  CHECK(names(host("a", "10.0.0.1", "lo")) == Names{"lo"});
  CHECK(names(host("a", "10.0.0.1", "10.0.0.0/24")) == Names{"eth0"});
  CHECK(names(host("a", "10.0.1.1", "10.0.0.0/24")).empty());
  CHECK(names(host("a", "10.0.0.1", "", "lo,eth0")).empty());
  CHECK(names(host("a", "10.0.0.1", "", "10.0.0.0/8")).empty());
}

TEST_CASE("hosts without an interface for MPI, or with the same address, are found") {
  CHECK(doctor::check_networks({host("alpha", "10.0.0.1")}).empty());  // a single host needs none
  CHECK_THAT(told(doctor::check_networks({host("alpha", "10.0.0.1"), host("beta", "10.0.0.2")})),
             StartsWith("ok: MPI over TCP uses alpha: eth0 10.0.0.1/24; beta: eth0 10.0.0.2/24 |"));

  const auto none = doctor::check_networks({host("alpha", "10.0.0.1"), host("beta", "10.0.0.2", "ib0")});
  CHECK_THAT(told(none), StartsWith("note: beta: the settings leave no interface for MPI over TCP "
                                    "(btl_tcp_if_include = \"ib0\""));
  CHECK_THAT(none[0].fix, Contains("OMPI_MCA_btl_tcp_if_include=10.0.0.0/24"));

  HostNetwork alpha = host("alpha", "10.0.0.1"), beta = host("beta", "10.0.0.2");
  alpha.interfaces.push_back(kBridge);
  beta.interfaces.push_back(kBridge);
  const auto bridges = doctor::check_networks({alpha, beta});
  CHECK_THAT(told(bridges), StartsWith("warning: docker0 172.17.0.1 is the same on 2 hosts (alpha, beta)") &&
                                Contains(" | export OMPI_MCA_btl_tcp_if_include=10.0.0.0/24"));
}

TEST_CASE("waiting ranks that keep their core busy are found if ranks share cores") {
  namespace run = convoke::run;
  const run::Machine crowded = run::machine_of({{"alpha", 0, {0}, 0}, {"alpha", 0, {0}, 0}}, 0);
  HostNetwork alpha = host("alpha", "10.0.0.1");
  CHECK_THAT(told(doctor::check_yielding(crowded, {alpha})),
             StartsWith("warning: alpha: 2 ranks share 1 core"));
  alpha.yields = true;
  CHECK(doctor::check_yielding(crowded, {alpha}).empty());
  const run::Machine roomy = run::machine_of({{"alpha", 0, {0}, 0}, {"alpha", 0, {1}, 0}}, 0);
  CHECK(doctor::check_yielding(roomy, {host("alpha", "10.0.0.1")}).empty());
}

TEST_CASE("slow messages are found, and the transfer time of a step is computed") {
  const auto fine = doctor::check_links({{"a", "a", 1e-6, 5e9}, {"a", "b", 40e-6, 1.1e8}}, 1 << 20);
  REQUIRE(fine.size() == 2);
  CHECK_THAT(told(fine[0]), StartsWith("ok: within a: 1.0 us, 4.7 GiB/s |"));
  CHECK_THAT(told(fine[1]), StartsWith("ok: a to b: 40.0 us, 104.9 MiB/s; the 1.0 MiB of gradients of each "
                                       "step take at least 9.5 ms |"));
  const auto slow =
      doctor::check_links({{"a", "a", 9e-3, 5e9}, {"a", "b", 40e-6, 1.1e7}, {"a", "c", 2e-3, 1e9}}, 0);
  for (const doctor::Finding& finding : slow) CHECK_THAT(told(finding), StartsWith("warning: "));
}

TEST_CASE("clocks that differ by a second give a warning, smaller differences a note or an ok") {
  const auto found =
      doctor::check_clock_offsets({{"beta", 2.5, 1e-4}, {"gamma", -0.3, 1e-4}, {"delta", 0.002, 1e-4}});
  REQUIRE(found.size() == 2);
  CHECK_THAT(told(found[0]), StartsWith("warning: beta: its clock is 2.5 s ahead of that of rank 0"));
  CHECK_THAT(told(found[1]), StartsWith("note: gamma: its clock is 0.3 s behind that of rank 0"));
  // A round trip of one second is too long to detect half a second.
  CHECK_THAT(told(doctor::check_clock_offsets({{"beta", 0.5, 0.5}})), StartsWith("ok: "));
  CHECK(doctor::check_clock_offsets({}).empty());  // one host
}
