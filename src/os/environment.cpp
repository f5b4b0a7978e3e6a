#include "convoke/os/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace convoke::os {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::int64_t> number_in(const std::string& name) {
  const std::string text = variable(name).value_or("");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::vector<std::int64_t> repeated_numbers_in(const std::string& name) {
  std::vector<std::int64_t> numbers;
  std::istringstream in(variable(name).value_or(""));
  for (std::string part; std::getline(in, part, ',');) {
    long number = 1;
    int times = 1;
    std::sscanf(part.c_str(), "%ld(x%d)", &number, &times);
    numbers.insert(numbers.end(), static_cast<std::size_t>(std::max(0, times)), number);
  }
  return numbers;
}

void set_default(const std::string& name, const std::string& value) {
  ::setenv(name.c_str(), value.c_str(), 0);
}

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
