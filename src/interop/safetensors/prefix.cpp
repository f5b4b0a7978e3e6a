#include "interop/safetensors/prefix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop {
namespace {

/// For each prefix, how many names it makes names of the naming.
using Counts = std::map<std::string, std::size_t>;

Counts count_prefixes(const Naming& naming, const std::vector<std::string>& names) {
  std::set<std::string_view> entries;
  for (const StateEntry& entry : naming.entries) entries.insert(entry.name);
  Counts counts;
  for (const std::string& name : names) {
    for (std::size_t start = 0; start < name.size(); ++start) {
      if (start > 0 && name[start - 1] != '.') continue;
      if (entries.contains(std::string_view(name).substr(start))) ++counts[name.substr(0, start)];
    }
  }
  return counts;
}

std::string shown(const std::string& prefix) { return fmt::format("\"{}\"", one_line(prefix)); }

}  // namespace

FoundNames find_names(const std::vector<Naming>& namings, const std::vector<std::string>& names,
                      std::optional<std::string> prefix, const std::string& file) {
  if (prefix && !prefix->empty() && !prefix->ends_with('.')) *prefix += '.';
  FoundNames found{.naming = &namings.front(), .prefix = prefix.value_or("")};
  std::size_t most = 0;
  std::vector<std::string> equals;
  for (const Naming& naming : namings) {
    for (const auto& [candidate, count] : count_prefixes(naming, names)) {
      if (prefix && candidate != *prefix) continue;
      if (count < most || (count == most && found.naming != &naming)) continue;
      if (count > most) equals.clear();
      most = count;
      equals.push_back(candidate);
      found.naming = &naming;
    }
  }
  if (prefix && equals.empty()) {
    throw Error(
        fmt::format("{}: has no names of this network behind the prefix {}", file, shown(*prefix)),
        fmt::format("leave --prefix out, or give what stands before them; one name in the file is \"{}\"",
                    names.empty() ? "" : shortened(one_line(names.front()), 80)));
  }
  if (equals.size() > 1) {
    std::vector<std::string> list;
    std::ranges::transform(equals, std::back_inserter(list), shown);
    throw Error(fmt::format("{}: has {} copies of these weights, under the prefixes {}", file, equals.size(),
                            join(list)),
                fmt::format("choose one, for example convoke import {} --zoo NETWORK --prefix {} --output "
                            "model.h5; \"model.ema\" and similar names are averages, which predict better",
                            file, shown(equals.back())));
  }
  if (!equals.empty()) found.prefix = equals.front();
  return found;
}

}  // namespace convoke::interop
