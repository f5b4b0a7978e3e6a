#include "sources/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/sources/class_labels.hpp"

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

}  // namespace convoke::data_prep
