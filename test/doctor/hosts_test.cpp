// Several hosts, simulated by network namespaces (test/doctor/hosts).
#include <unistd.h>

#include "support/catch.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"

namespace {

/// Two simulated hosts during its lifetime; none if namespaces are not allowed.
class Hosts {
 public:
  Hosts() { up_ = shell(script_ + " up " + prefix_ + " " + std::to_string(subnet_) + " 2").code == 0; }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;
  ~Hosts() { shell(script_ + " down " + prefix_ + " 2"); }

  explicit operator bool() const { return up_; }
  std::string name(int host) const { return prefix_ + std::to_string(host); }
  Outcome doctor(const std::string& more, const std::string& before = "") const {
    const std::string net = "10.89." + std::to_string(subnet_) + ".0/24";
    return shell("cd " + fs::temp_directory_path().string() + " && " + before +
                 " OMPI_MCA_plm_rsh_agent=" + script_ + " OMPI_MCA_btl= OMPI_MCA_oob_tcp_if_include=" + net +
                 " OMPI_MCA_btl_tcp_if_include=" + net +
                 " OMPI_MCA_mpi_yield_when_idle=1 timeout 60 mpirun --host " + name(1) + ":2," + name(2) +
                 ":2 " + more);
  }

 private:
  std::string script_ = std::getenv("CONVOKE_HOSTS");
  int subnet_ = getpid() % 250;
  std::string prefix_ = "cvd" + std::to_string(getpid() % 100000) + "x";
  bool up_ = false;
};

}  // namespace

TEST_CASE("two hosts are examined, and the link between them is measured") {
  if (getuid() != 0) return skip("needs root to make network namespaces");
  if (code_under_mpirun(3) != 3) return skip("Open MPI 5 has other settings to start its daemons");
  const Hosts hosts;
  if (!hosts) return skip("cannot make network namespaces here");
  const Outcome outcome = hosts.doctor("-n 2 --map-by node " + binary() + " doctor");
  CAPTURE(outcome.text);
  CHECK((outcome.code == 0 || outcome.code == 3));  // the link may be slow on a busy machine
  CHECK(outcome.says("2 ranks in one MPI world on 2 hosts"));
  CHECK(outcome.says(hosts.name(1) + ": "));
  CHECK(outcome.says(hosts.name(2) + ": "));
  CHECK(outcome.says("ok       network          MPI over TCP uses " + hosts.name(1) + ": eth0 10.89."));
  CHECK(outcome.says("messages         " + hosts.name(1) + " to " + hosts.name(2) + ": "));
  CHECK(outcome.says("ok       host clock"));
}
