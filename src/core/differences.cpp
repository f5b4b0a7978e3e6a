#include "convoke/core/differences.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace convoke {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

const std::string* find_value(const Values& values, const std::string& name) {
  const auto it =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  return it == values.end() ? nullptr : &it->second;
}

}  // namespace

std::vector<std::string> differences(const Values& then, const Values& now, std::string_view place) {
  std::vector<std::string> found;
  for (const auto& [name, value] : now) {
    const std::string* before = find_value(then, name);
    if (before != nullptr && *before == value) continue;
    found.push_back(
        fmt::format("{}: {} {}, {} now", name, before == nullptr ? "absent" : *before, place, value));
  }
  for (const auto& [name, value] : then) {
    if (find_value(now, name) == nullptr)
      found.push_back(fmt::format("{}: {} {}, absent now", name, value, place));
  }
  return found;
}

}  // namespace convoke
