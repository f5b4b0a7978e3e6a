#include "sources/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/number.hpp"

namespace convoke::data_prep {

namespace {

std::optional<std::int64_t> whole_number_in(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && read == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string label_fault(std::int64_t label) {
  if (label >= 0 && label < kMostClasses) return {};
  return fmt::format("its label is {}; labels must be 0, 1, 2, ..., below {}", label, kMostClasses);
}

void set_labels(Catalogue& catalogue, std::span<const std::string> texts,
                const std::vector<std::string>& class_names, const std::string& where) {
  std::vector<Item>& items = catalogue.items;
  std::vector<std::size_t> labelled;
  std::vector<std::string> labels;
  bool numbers = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].fault.empty()) continue;
    labelled.push_back(i);
    labels.push_back(texts[i]);
    numbers = numbers && whole_number_in(texts[i]).has_value();
  }
  if (numbers) {
    catalogue.class_names = class_names;
    catalogue.classes = static_cast<std::int64_t>(class_names.size());
    for (std::size_t k = 0; k < labelled.size(); ++k) {
      const std::int64_t label = *whole_number_in(labels[k]);
      Item& item = items[labelled[k]];
      item.fault = label_fault(label);
      if (!item.fault.empty()) continue;
      item.label = static_cast<std::int32_t>(label);
      catalogue.classes = std::max(catalogue.classes, label + 1);
    }
    return;
  }
  ClassLabels named = class_labels(labels, class_names, where);
  for (std::size_t k = 0; k < labelled.size(); ++k) {
    items[labelled[k]].label = std::max(named.labels[k], 0);
    if (named.labels[k] < 0) items[labelled[k]].fault = "its label is empty";
  }
  catalogue.classes = named.classes;
  catalogue.class_names = std::move(named.class_names);
}

void require_classes(const std::string& source, const Catalogue& catalogue) {
  const std::vector<Item>& items = catalogue.items;
  const auto whole = [](const Item& item) { return item.fault.empty(); };
  const auto first = std::find_if(items.begin(), items.end(), whole);
  if (first == items.end()) {
    throw Error(items.empty() ? fmt::format("{}: has no samples", source)
                              : fmt::format("{}: none of its {} samples can be used; {}: {}", source,
                                            items.size(), items.front().name, items.front().fault));
  }
  if (std::any_of(first, items.end(),
                  [&](const Item& item) { return whole(item) && item.label != first->label; })) {
    return;
  }
  throw Error(fmt::format("{}: all labels are {}; a dataset needs at least 2 classes", source, first->label));
}

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
