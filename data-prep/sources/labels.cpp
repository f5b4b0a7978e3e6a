#include "sources/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/files/numbers.hpp"

namespace convoke::data_prep {

std::string label_fault(std::int64_t label) {
  if (label >= 0 && label < kMostClasses) return {};
  return fmt::format("its label is {}; labels must be 0, 1, 2, ..., below {}", label, kMostClasses);
}

bool is_missing_label(const std::string& cell) {
  return is_missing(cell) && lower_case(trimmed(cell)) != "none";
}

void set_labels(Catalog& catalog, std::span<const std::string> texts,
                const std::vector<std::string>& class_names, const std::string& where) {
  std::vector<Item>& items = catalog.items;
  std::vector<std::size_t> labeled;
  std::vector<std::string> labels;
  bool numbers = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].fault.empty()) continue;
    labeled.push_back(i);
    labels.push_back(decoded_text(texts[i]));
    numbers = numbers && parse_number<std::int64_t>(texts[i]).has_value();
  }
  if (numbers) {
    catalog.class_names = class_names;
    catalog.classes = static_cast<std::int64_t>(class_names.size());
    for (std::size_t k = 0; k < labeled.size(); ++k) {
      const std::int64_t label = *parse_number<std::int64_t>(labels[k]);
      Item& item = items[labeled[k]];
      item.fault = label_fault(label);
      if (!item.fault.empty()) continue;
      item.label = static_cast<std::int32_t>(label);
      catalog.classes = std::max(catalog.classes, label + 1);
    }
    return;
  }
  ClassLabels named = class_labels(labels, class_names, where);
  for (std::size_t k = 0; k < labeled.size(); ++k) {
    items[labeled[k]].label = std::max(named.labels[k], 0);
    if (named.labels[k] < 0) items[labeled[k]].fault = "its label is missing";
  }
  catalog.assumptions.insert(catalog.assumptions.end(), named.assumptions.begin(), named.assumptions.end());
  catalog.classes = named.classes;
  catalog.class_names = std::move(named.class_names);
}

void require_classes(const std::string& source, const Catalog& catalog) {
  const std::vector<Item>& items = catalog.items;
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
  throw Error(fmt::format("{}: has one class, \"{}\"; a dataset needs at least 2 classes", source,
                          catalog.class_name(first->label)));
}

namespace {

constexpr std::size_t kSurelyClasses = 20;

/// The spellings of labels, and the classes that they stand for.
class Spellings {
 public:
  // A class is called as in `class_names`, if its value is there.
  Spellings(std::span<const std::string> cells, const std::vector<std::string>& class_names) {
    for (const std::string& cell : cells) {
      if (is_missing_label(cell)) continue;
      const std::string label = trimmed(cell);
      if (!class_of_.emplace(label, "").second) continue;
      std::vector<std::string>& alike = alike_[value_key(label)];
      alike.push_back(label);
    }
    std::map<std::string, std::string> given;  // names by key
    for (const std::string& name : class_names) given.emplace(value_key(name), name);
    for (auto& [key, alike] : alike_) {
      std::sort(alike.begin(), alike.end(), [](const std::string& a, const std::string& b) {
        return std::pair(a.size(), a) < std::pair(b.size(), b);
      });
      const auto it = given.find(key);
      const std::string name = it == given.end() ? class_name(key, alike.front()) : it->second;
      names_.insert(name);
      for (const std::string& label : alike) class_of_[label] = name;
    }
  }

  const std::set<std::string>& names() const { return names_; }

  /// Returns the name of a cell's class; empty for a missing label.
  std::string class_of(const std::string& cell) const {
    const auto it = class_of_.find(trimmed(cell));
    return it == class_of_.end() ? "" : it->second;
  }

  /// Returns what is one class in spite of its spellings, and what is not.
  std::vector<Assumption> assumptions() const {
    constexpr std::size_t kShown = 5;
    std::vector<std::string> joined, apart;
    std::map<std::string, std::string> in_lower;
    for (const auto& [key, alike] : alike_) {
      if (alike.size() > 1) joined.push_back(join(alike, " = "));
      const auto [before, added] = in_lower.emplace(lower_case(alike.front()), alike.front());
      if (!added) apart.push_back(fmt::format("\"{}\" and \"{}\"", before->second, alike.front()));
    }
    std::vector<Assumption> found;
    if (!joined.empty()) {
      found.push_back(
          {.what = "one class", .taken = listing(joined, kShown), .why = "they are the same value"});
    }
    if (!apart.empty()) {
      found.push_back({.what = "two classes",
                       .taken = listing(apart, kShown),
                       .why = "they differ only in case",
                       .doubtful = true});
    }
    if (names_.count("none") + names_.count("None") > 0) {
      found.push_back({.what = "a class",
                       .taken = names_.count("none") > 0 ? "\"none\"" : "\"None\"",
                       .why = "in features it is a missing value"});
    }
    return found;
  }

 private:
  // A number with an exponent, as numpy.savetxt writes it, is called as it is usually written.
  static std::string class_name(const std::string& key, const std::string& label) {
    return key.front() == '=' && number_in(label) && label.find_first_of("eE") != std::string::npos
               ? key.substr(1)
               : label;
  }

  std::map<std::string, std::vector<std::string>> alike_;  // labels by key, the shortest first
  std::map<std::string, std::string> class_of_;
  std::set<std::string> names_;
};

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
  const Spellings spellings(cells, class_names);
  const std::set<std::string>& found = spellings.names();
  if (found.size() > kSurelyClasses && 2 * found.size() > cells.size()) {
    throw Error(fmt::format("{}: has {} different labels in {} rows", where,
                            format_count(static_cast<std::int64_t>(found.size())),
                            format_count(static_cast<std::int64_t>(cells.size()))),
                "Convoke classifies: choose a column of classes with --label-column, or cut the numbers into "
                "ranges (for example with pandas.cut); for regression use another program");
  }
  ClassLabels result;
  std::vector<std::string> names = in_order(found);
  std::vector<std::string> with_given = names;
  with_given.insert(with_given.end(), class_names.begin(), class_names.end());
  if (const auto twins = find_twins(with_given)) {
    throw Error(
        fmt::format("{}: the labels {}", where, twins_text(*twins)),
        "write both in the same way, for example with Python's unicodedata.normalize(\"NFC\", label)");
  }
  if (class_names.empty()) {
    if (names.size() < 2) {
      throw Error(names.empty() ? fmt::format("{}: has no labels", where)
                                : fmt::format("{}: has one class, \"{}\"", where, names.front()),
                  "a dataset needs at least 2 classes: choose another column with --label-column");
    }
    result.classes = static_cast<std::int64_t>(names.size());
    if (!are_indices(names, names.size())) result.class_names = names;
  } else {
    result.classes = static_cast<std::int64_t>(class_names.size());
    result.class_names = class_names;
    const auto other = std::ranges::find_if(names, [&](const std::string& name) {
      return std::ranges::find(class_names, name) == class_names.end();
    });
    const bool indices = other != names.end() && are_indices(names, class_names.size());
    if (other != names.end() && !indices) {
      throw Error(fmt::format("{}: \"{}\" is not one of the {} class names{}", where, *other,
                              class_names.size(), did_you_mean(*other, class_names)),
                  "the labels are: " + listing(names));
    }
    names.clear();
    for (std::size_t i = 0; i < class_names.size(); ++i) {
      names.push_back(indices ? std::to_string(i) : class_names[i]);
    }
  }
  const std::map<std::string, std::int32_t> numbers = numbered(names);
  result.assumptions = spellings.assumptions();
  for (const std::string& cell : cells) {
    const auto it = numbers.find(spellings.class_of(cell));
    result.labels.push_back(it == numbers.end() ? -1 : it->second);
  }
  return result;
}

void rename_classes(Catalog& catalog, const std::vector<std::string>& given, const std::string& where) {
  if (given.empty()) return;
  const std::vector<std::string> names = std::exchange(catalog.class_names, given);
  if (given.size() != names.size()) {
    throw Error(
        fmt::format("{}: has {} classes, but {} class names are given", where, names.size(), given.size()));
  }
  const std::map<std::string, std::int32_t> labels = numbered(given);
  const auto is_given = [&](const std::string& name) { return labels.count(name) > 0; };
  if (std::none_of(names.begin(), names.end(), is_given)) {
    std::vector<std::string> renamed;
    for (std::size_t i = 0; i < names.size(); ++i)
      renamed.push_back(fmt::format("{} is called {}", names[i], given[i]));
    catalog.assumptions.push_back({.what = "class names",
                                   .taken = listing(renamed, 5),
                                   .why = "in the order of the classes",
                                   .option = "--class-names"});
    return;
  }
  if (const auto other = std::find_if_not(names.begin(), names.end(), is_given); other != names.end()) {
    throw Error(fmt::format("{}: \"{}\" is not one of the {} class names{}", where, *other, given.size(),
                            did_you_mean(*other, given)),
                "the classes are: " + listing(names));
  }
  for (Item& item : catalog.items) item.label = labels.at(names[static_cast<std::size_t>(item.label)]);
}

}  // namespace convoke::data_prep
