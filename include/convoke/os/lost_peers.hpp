#pragma once
#include <string>
#include <vector>

namespace convoke::os {

/// From now on, a write to a peer that is gone fails with EPIPE instead of ending this process by SIGPIPE, so
/// that MPI can report which peer it has lost. Standard output and standard error are exceptions: if their
/// reader is gone (`convoke train ... | head`), the signal still ends the process. A program that chose what
/// SIGPIPE does keeps its choice. Child processes begin with the signal's default action.
void survive_broken_pipes();

/// Returns the addresses of hosts that hold a TCP connection to this process and have acknowledged nothing
/// for `seconds`, although the kernel asked them: it repeats data that it has sent, or, on an idle
/// connection, sends probes, which each call turns on for connections that do not have them. The host is down
/// then, or the network between is cut. A process that is only slow or stopped does not count, because its
/// kernel still answers. Loopback connections are ignored. Each address comes once.
std::vector<std::string> silent_peers(double seconds);

}  // namespace convoke::os
