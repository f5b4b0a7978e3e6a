#include "cluster/live_hosts.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "convoke/os/child_process.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::app {
namespace {

using supervise::LaunchCommand, supervise::LaunchHost;

constexpr double kPatience = 15;  // seconds

bool in_slurm(const LaunchCommand& command) {
  return (command.by_mpirun() || command.by_srun()) && os::variable("SLURM_JOB_NODELIST").has_value();
}

bool is_here(const std::string& host) {
  const std::string here = os::host_name();
  return host == "localhost" || host.starts_with("127.") || host == here ||
         host == here.substr(0, here.find('.'));
}

// Asks a host as mpirun does. Without the program that reaches it, nothing is known: mpirun itself will tell.
bool answers(const std::string& host, const std::string& agent) {
  std::vector<std::string> words;
  std::istringstream in(agent);
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) words = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
  const std::string program = words.front();
  words.insert(words.end(), {host, "true"});
  if (os::run(words, {.input = "", .errors = false, .seconds = kPatience}).code == 0) return true;
  return program.find('/') == std::string::npos && !os::find_program(program);
}

std::vector<LaunchHost> nodes_of_job() {
  const os::Answer names = os::run({"scontrol", "show", "hostnames", *os::variable("SLURM_JOB_NODELIST")},
                                   {.input = "", .errors = false, .seconds = kPatience});
  const int slots = static_cast<int>(os::number_in("SLURM_NTASKS_PER_NODE").value_or(1));
  std::vector<LaunchHost> nodes;
  std::istringstream in(names.code == 0 ? names.output : "");
  for (std::string name; in >> name;) nodes.push_back({name, slots});
  return nodes;
}

// Nodes that do not respond have a state with an asterisk.
std::set<std::string> lost_nodes() {
  const os::Answer answer = os::run(
      {"sinfo", "--noheader", "--Node", "--format=%N %T", "--nodes=" + *os::variable("SLURM_JOB_NODELIST")},
      {.input = "", .errors = false, .seconds = kPatience});
  std::set<std::string> lost;
  std::istringstream in(answer.code == 0 ? answer.output : "");
  for (std::string name, state; in >> name >> state;) {
    if (state.ends_with('*') || state.starts_with("down")) lost.insert(name);
  }
  return lost;
}

}  // namespace

std::vector<LaunchHost> hosts_of(const LaunchCommand& command) {
  std::vector<LaunchHost> hosts = command.hosts();
  return hosts.empty() && in_slurm(command) ? nodes_of_job() : hosts;
}

std::vector<LaunchHost> live_hosts(const std::vector<LaunchHost>& hosts, const LaunchCommand& command) {
  std::vector<LaunchHost> live;
  if (command.hosts().empty() && in_slurm(command)) {
    const std::set<std::string> lost = lost_nodes();
    std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(live),
                 [&](const LaunchHost& host) { return !lost.contains(host.name); });
    return live;
  }
  const std::string agent =
      command.agent().empty() ? os::variable("OMPI_MCA_plm_rsh_agent").value_or("") : command.agent();
  std::vector<std::future<bool>> all;
  for (const LaunchHost& host : hosts) {
    all.push_back(
        std::async(std::launch::async, [&] { return is_here(host.name) || answers(host.name, agent); }));
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (all[i].get()) live.push_back(hosts[i]);
  }
  return live;
}

}  // namespace convoke::app
