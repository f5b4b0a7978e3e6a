#include "convoke/data_prep/sources/class_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/number.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::size_t kSurelyClasses = 20;

// Returns the names in the order of their numbers, or in the given order if any is not a number.
std::vector<std::string> in_order(const std::set<std::string>& names) {
  std::vector<std::string> ordered(names.begin(), names.end());
  const bool numbers = std::all_of(ordered.begin(), ordered.end(),
                                   [](const std::string& name) { return number_in(name).has_value(); });
  if (numbers) {
    std::stable_sort(ordered.begin(), ordered.end(), [](const std::string& a, const std::string& b) {
      return *number_in(a) < *number_in(b);
    });
  }
  return ordered;
}

// True if the names are "0", "1", ..., count - 1.
bool are_indices(const std::vector<std::string>& names, std::size_t count) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::optional<double> number = number_in(name);
    return number && *number >= 0 && *number < static_cast<double>(count) &&
           name == std::to_string(static_cast<std::size_t>(*number));
  });
}

std::map<std::string, std::int32_t> numbered(const std::vector<std::string>& names) {
  std::map<std::string, std::int32_t> numbers;
  for (const std::string& name : names) numbers.emplace(name, static_cast<std::int32_t>(numbers.size()));
  return numbers;
}

}  // namespace

ClassLabels class_labels(std::span<const std::string> cells, const std::vector<std::string>& class_names,
                         const std::string& where) {
  std::set<std::string> found;
  for (const std::string& cell : cells) {
    if (std::string name = trimmed(cell); !name.empty()) found.insert(std::move(name));
  }
  if (found.size() > kSurelyClasses && 2 * found.size() > cells.size()) {
    throw Error(fmt::format("{}: has {} different labels in {} rows", where,
                            format_count(static_cast<std::int64_t>(found.size())),
                            format_count(static_cast<std::int64_t>(cells.size()))),
                "so many values cannot be classes: choose another column with --label-column");
  }
  ClassLabels result;
  std::vector<std::string> names = in_order(found);
  if (class_names.empty()) {
    if (names.size() < 2) {
      throw Error(names.empty() ? fmt::format("{}: has no labels", where)
                                : fmt::format("{}: all labels are \"{}\"", where, names.front()),
                  "a dataset needs at least 2 classes");
    }
    result.classes = static_cast<std::int64_t>(names.size());
    if (!are_indices(names, names.size())) result.class_names = names;
  } else {
    result.classes = static_cast<std::int64_t>(class_names.size());
    result.class_names = class_names;
    const bool indices = are_indices(names, class_names.size());
    for (const std::string& name : names) {
      if (indices || std::find(class_names.begin(), class_names.end(), name) != class_names.end()) continue;
      throw Error(fmt::format("{}: \"{}\" is not one of the {} class names{}", where, name,
                              class_names.size(), did_you_mean(name, class_names)),
                  "the labels are: " + join(names));
    }
    names.clear();
    for (std::size_t i = 0; i < class_names.size(); ++i) {
      names.push_back(indices ? std::to_string(i) : class_names[i]);
    }
  }
  const std::map<std::string, std::int32_t> numbers = numbered(names);
  for (const std::string& cell : cells) {
    const auto it = numbers.find(trimmed(cell));
    result.labels.push_back(it == numbers.end() ? -1 : it->second);
  }
  return result;
}

}  // namespace convoke::data_prep
