#include "convoke/os/openmp_binding.hpp"

#include <array>
#include <string_view>

#include "convoke/os/environment.hpp"

namespace convoke::os {
namespace {

constexpr std::array<std::string_view, 4> kVariables{"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                                     "KMP_AFFINITY"};
constexpr char lower(char letter) { return static_cast<char>(letter | 0x20); }

// Compares without functions of the C library, which may not be initialized yet.
bool is_value_of(const char* entry, std::string_view name) {
  for (const char letter : name) {
    if (*entry++ != letter) return false;
  }
  return *entry == '=';
}

}  // namespace

void hide_openmp_binding(char** environment) noexcept {
  for (; *environment != nullptr; ++environment) {
    for (const std::string_view name : kVariables) {
      if (is_value_of(*environment, name)) **environment = lower(**environment);
    }
  }
}

std::vector<std::string> hidden_openmp_binding() {
  std::vector<std::string> hidden;
  for (const std::string_view name : kVariables) {
    std::string key(name);
    key.front() = lower(key.front());
    if (const auto value = variable(key.c_str())) hidden.push_back(std::string(name) + "=" + *value);
  }
  return hidden;
}

}  // namespace convoke::os
