#pragma once
#include <string>

namespace convoke::os {

/// Returns the name of this host: "n1"; "unknown" if it has none.
std::string host_name();

}  // namespace convoke::os
