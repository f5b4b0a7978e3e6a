#include "report/chart/distinct_names.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

using Names = std::map<std::string, std::string>;

// Returns the first `begin` characters, "…" and the last ones: `characters` in total.
std::string cut(const std::string& name, std::size_t begin, std::size_t characters) {
  const std::string line = one_line(name);
  std::vector<std::string> letters;
  for (std::size_t at = 0; at < line.size(); at += letters.back().size())
    letters.push_back(line.substr(at, utf8_length(std::string_view(line).substr(at))));
  if (letters.size() <= characters) return line;
  std::string text;
  for (std::size_t i = 0; i < begin; ++i) text += letters[i];
  text += "…";
  for (std::size_t i = letters.size() - (characters - begin - 1); i < letters.size(); ++i) text += letters[i];
  return text;
}

Names cut_all(std::span<const std::string> names, std::size_t begin, std::size_t characters) {
  Names all;
  for (const std::string& name : names) all[name] = cut(name, begin, characters);
  return all;
}

bool differ(const Names& names) {
  std::set<std::string> seen;
  for (const auto& [name, called] : names) seen.insert(called);
  return seen.size() == names.size();
}

}  // namespace

Names distinct_names(std::span<const std::string> names, std::size_t characters) {
  const std::size_t middle = characters / 2;
  for (std::size_t aside = 0; aside < middle - 1; ++aside) {
    for (const std::size_t begin : {middle - aside, middle + aside}) {
      if (begin + 1 >= characters) continue;
      Names all = cut_all(names, begin, characters);
      if (differ(all)) return all;
    }
  }
  constexpr std::size_t kNumber = 4;  // " 123"
  Names all = cut_all(names, middle, characters - kNumber);
  std::map<std::string, int> counts;
  for (auto& [name, called] : all) {
    const int count = ++counts[called];
    if (count > 1) called += fmt::format(" {}", count);
  }
  return all;
}

}  // namespace convoke::report
