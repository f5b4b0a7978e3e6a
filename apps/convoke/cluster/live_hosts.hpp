#pragma once
#include <vector>

#include "convoke/supervise/launch_command.hpp"

namespace convoke::app {

/// The hosts on which a command may start ranks: those of its --host or --hostfile, or the nodes of the Slurm
/// job that this process is part of. Empty if the command stays on this host. Throws Error if the hostfile
/// cannot be read.
std::vector<supervise::LaunchHost> hosts_of(const supervise::LaunchCommand& command);

/// Returns those of `hosts` that can start ranks now: hosts of the command answer to ssh (or the program that
/// mpirun uses instead), and nodes of the job are up. Takes at most 15 seconds.
std::vector<supervise::LaunchHost> live_hosts(const std::vector<supervise::LaunchHost>& hosts,
                                              const supervise::LaunchCommand& command);

}  // namespace convoke::app
