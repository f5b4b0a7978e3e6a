#pragma once
#include <string>
#include <vector>

namespace convoke::os {

/// Returns the addresses of hosts that hold a TCP connection to this process and have acknowledged nothing
/// for `seconds`, although the kernel asked them: it repeats data that it has sent, or, on an idle
/// connection, sends probes, which each call turns on for connections that do not have them. The host is down
/// then, or the network between is cut. A process that is only slow or stopped does not count, because its
/// kernel still answers. Loopback connections are ignored. Each address comes once.
std::vector<std::string> silent_peers(double seconds);

}  // namespace convoke::os
