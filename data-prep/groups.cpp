#include "convoke/data_prep/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "convoke/core/error.hpp"
#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

constexpr const char* kExample =
    "write for example --group-by '(patient[0-9]+)' for names such as ill/patient12-left.png";

Pattern pattern_of(const std::string& text) try { return text; } catch (const std::runtime_error& error) {
  throw Error(fmt::format("--group-by {}: is not a regular expression: {}", text, error.what()), kExample);
}

// Returns the part of a name that stands for its group; empty if the name does not match.
std::string group_in(const std::string& name, const Pattern& pattern, const std::string& text) try {
  const Match match = first_match(name, pattern);
  return match.empty() ? "" : match[match.size() > 1 ? 1 : 0];
} catch (const std::runtime_error& error) {
  throw Error(fmt::format("--group-by {}: cannot be matched with {}: {}", text, name, error.what()),
              "write a simpler expression");
}

// Returns the name of the group of each item; empty: alone.
std::vector<std::string> captured(const Catalog& catalog, const std::string& pattern,
                                  std::vector<std::string>& notes) {
  const Pattern group = pattern_of(pattern);
  const std::vector<Item>& items = catalog.items;
  const bool named = std::any_of(items.begin(), items.end(), [](const Item& i) { return !i.group.empty(); });
  std::vector<std::string> names;
  std::int64_t without = 0;
  for (const Item& item : items) {
    names.push_back(group_in(named ? item.group : item.name, group, pattern));
    if (names.back().empty()) ++without;
  }
  if (without > 0) {
    notes.push_back(fmt::format("--group-by {}: {} without a match, each a group of its own", pattern,
                                counted(without, "sample")));
  }
  std::vector<std::string> sorted = names;
  std::erase(sorted, "");
  std::sort(sorted.begin(), sorted.end());
  if (items.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return names;
  throw Error(
      fmt::format("--group-by {}: no two samples have the same group; the first is searched in \"{}\"",
                  pattern, named ? items.front().group : items.front().name),
      named ? kExample : "add --group COLUMN if a column has the groups; otherwise " + std::string(kExample));
}

}  // namespace

Groups::Groups(std::size_t items) : towards_first_(items) {
  std::iota(towards_first_.begin(), towards_first_.end(), std::size_t{0});
}

std::size_t Groups::first_of(std::size_t item) const {
  while (towards_first_[item] != item) item = towards_first_[item];
  return item;
}

void Groups::join(std::size_t a, std::size_t b) {
  const std::size_t first = std::min(first_of(a), first_of(b));
  for (std::size_t item : {a, b}) {  // shortens both paths
    while (item != first) {
      const std::size_t next = towards_first_[item];
      towards_first_[item] = first;
      if (next == item) break;
      item = next;
    }
  }
}

Groups groups_of(const Catalog& catalog, const std::string& pattern, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  if (pattern.empty()) {
    for (const Item& item : catalog.items) names.push_back(item.group);
  } else {
    names = captured(catalog, pattern, notes);
  }
  Groups groups(names.size());
  std::unordered_map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) groups.join(first.try_emplace(names[i], i).first->second, i);
  }
  return groups;
}

}  // namespace convoke::data_prep
