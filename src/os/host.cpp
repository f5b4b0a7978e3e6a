#include "convoke/os/host.hpp"

#include <unistd.h>

#include <array>

namespace convoke::os {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

}  // namespace convoke::os
