#include "findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

bool leaks_between(const Pair& pair, const SplitAssignment& splits) {
  return splits.of_item[pair.first] != splits.of_item[pair.second];
}

std::string split_of(std::size_t item, const SplitAssignment& splits) {
  const std::int32_t split = splits.of_item[item];
  return split == SplitAssignment::kNone ? "" : splits.names[static_cast<std::size_t>(split)];
}

}  // namespace

std::int64_t leaks(const std::vector<Pair>& pairs, const SplitAssignment& splits) {
  return std::count_if(pairs.begin(), pairs.end(),
                       [&](const Pair& pair) { return leaks_between(pair, splits); });
}

std::vector<std::size_t> usable_items(const Catalog& catalog) {
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    if (catalog.items[i].fault.empty()) items.push_back(i);
  }
  return items;
}

std::map<std::size_t, Error> listed_faults(const Catalog& catalog) {
  std::map<std::size_t, Error> faults;
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    if (!catalog.items[i].fault.empty()) faults.emplace(i, Error(catalog.items[i].fault));
  }
  return faults;
}

std::vector<std::string> absent_classes(const Catalog& catalog, const std::vector<std::size_t>& items,
                                        const std::vector<std::string>& class_names) {
  std::vector<bool> there(static_cast<std::size_t>(catalog.classes));
  for (const std::size_t item : items) there[static_cast<std::size_t>(catalog.items[item].label)] = true;
  std::vector<std::string> absent;
  for (std::size_t c = 0; c < there.size(); ++c) {
    if (!there[c]) absent.push_back(class_names.empty() ? std::to_string(c) : class_names[c]);
  }
  return absent;
}

std::string unreadable_text(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                            const std::string& source) {
  constexpr std::size_t kShown = 20;
  std::string text = fmt::format("{}: {} of {} samples cannot be read:", source,
                                 format_count(std::ssize(faults)), format_count(std::ssize(catalog.items)));
  auto fault = faults.begin();
  for (std::size_t shown = 0; fault != faults.end() && shown < kShown; ++shown, ++fault)
    text += "\n  " + with_name(catalog.items[fault->first].name, fault->second.what());
  if (fault != faults.end())
    text += fmt::format("\n  and {} more", format_count(std::distance(fault, faults.end())));
  return text;
}

void expect_readable(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                     const std::string& source, const std::filesystem::path& list) {
  if (faults.empty()) return;
  std::string hint = faults.begin()->second.hint();
  hint += hint.empty() ? "fix or remove them, or leave" : "; or leave";
  hint += " them out with --skip-bad";
  if (std::filesystem::exists(list)) hint += fmt::format("; {} lists them all", list.string());
  throw Error(unreadable_text(faults, catalog, source), hint);
}

void expect_samples_left(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                         const SplitAssignment& splits, const std::string& source) {
  for (std::size_t s = 0; s < splits.names.size(); ++s) {
    const std::vector<std::size_t> items = splits.items(s);
    if (std::any_of(items.begin(), items.end(), [&](std::size_t item) { return faults.count(item) == 0; }))
      continue;
    throw Error(fmt::format("split \"{}\" would have no sample that can be read; {}", splits.names[s],
                            unreadable_text(faults, catalog, source)),
                faults.empty() ? "" : faults.begin()->second.hint());
  }
}

void write_findings(const std::filesystem::path& file, const Findings& findings, const Catalog& catalog,
                    const SplitAssignment& splits) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << "finding,sample,split,class,other_sample,other_split,other_class,reason\n";
  const auto columns_of = [&](std::size_t item) {
    return fmt::format("{},{},{}", csv_cell(catalog.items[item].name), csv_cell(split_of(item, splits)),
                       csv_cell(catalog.class_name(catalog.items[item].label)));
  };
  for (const auto& [item, reason] : findings.faults)
    out << fmt::format("unreadable,{},,,,{}\n", columns_of(item), csv_cell(reason.what()));
  for (const Pair& pair : findings.duplicates)
    out << fmt::format("duplicate,{},{},equal values\n", columns_of(pair.first), columns_of(pair.second));
  for (const Pair& pair : findings.near_duplicates)
    out << fmt::format("near-duplicate,{},{},look the same\n", columns_of(pair.first),
                       columns_of(pair.second));
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written", file.string()));
}

void expect_no_leak(const Findings& findings, const Catalog& catalog, const SplitAssignment& splits,
                    const std::filesystem::path& list) {
  const auto leak = std::find_if(findings.duplicates.begin(), findings.duplicates.end(),
                                 [&](const Pair& pair) { return leaks_between(pair, splits); });
  if (leak == findings.duplicates.end()) return;
  throw Error(
      fmt::format("{} samples are in two splits, so the test results would be invalid: {} of \"{}\" equals "
                  "{} of \"{}\"",
                  format_count(leaks(findings.duplicates, splits)), catalog.items[leak->first].name,
                  split_of(leak->first, splits), catalog.items[leak->second].name,
                  split_of(leak->second, splits)),
      fmt::format("{} lists them all; remove them from one split, draw other splits (--split "
                  "train=0.8,test=0.2), or add --allow-duplicates",
                  list.string()));
}

}  // namespace convoke::data_prep
