#include "convoke/os/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

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

}  // namespace convoke::os
