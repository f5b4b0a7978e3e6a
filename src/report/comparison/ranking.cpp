#include "convoke/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

// Shortens a long text to begin a little before the position where it differs from another.
std::string from_difference(const std::string& text, const std::string& other, std::size_t longest) {
  constexpr std::size_t kBefore = 10;
  const auto place = static_cast<std::size_t>(
      std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first - text.begin());
  std::size_t start = place > kBefore ? place - kBefore : 0;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U)
    --start;  // not within a UTF-8 character
  return (start > 0 ? "…" : "") + shortened(text.substr(start), longest);
}

std::string text_of(const NamedKeys& run, const std::string& key, const char* otherwise = "") {
  const auto at = run.keys.find(key);
  return at == run.keys.end() ? otherwise : at->second;
}

// Describes the samples for validation in words: a separate split, or the last part of the training samples
// (of each shard, in an ensemble; chosen by the seed for bootstrap shards).
std::string held_out(const NamedKeys& run) {
  const std::string split = text_of(run, "data.validation_split");
  if (split.empty() || split.front() < '0' || split.front() > '9') return split;
  std::string samples = split + " of " + text_of(run, "data.train_split");
  const std::string sharding = text_of(run, "ensemble.shards");
  const bool ensemble = text_of(run, "train.mode").find("ensemble") != std::string::npos;
  if (!ensemble || sharding.find("full") != std::string::npos) return samples;
  samples += ", " + sharding + ", " + text_of(run, "ensemble.members");
  return samples + (sharding.find("bootstrap") != std::string::npos ? ", " + text_of(run, "seed") : "");
}

bool validated_alike(std::span<const RunResult> runs, std::span<const NamedKeys> recipes) {
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const bool other_data = !runs[r].content_hash.empty() && !runs[0].content_hash.empty() &&
                            runs[r].content_hash != runs[0].content_hash;
    if (other_data || held_out(recipes[r]) != held_out(recipes[0])) return false;
  }
  return true;
}

using Datasets = std::map<std::map<std::string, std::string>, std::set<std::string>>;

// Returns the content hashes of the datasets of each recipe, as far as they are known. Keys that do not
// change a result do not make another recipe.
Datasets datasets_by_recipe(std::span<const RunResult> runs, std::span<const NamedKeys> recipes) {
  Datasets datasets;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::map<std::string, std::string> keys = recipes[r].keys;
    std::erase_if(keys, [](const auto& entry) {
      const std::string& key = entry.first;
      return key == "name" || key == "data.path" || key == "data.memory" || key.starts_with("run.") ||
             key.starts_with("log.");
    });
    std::set<std::string>& hashes = datasets[std::move(keys)];
    if (!runs[r].content_hash.empty()) hashes.insert(runs[r].content_hash);
  }
  return datasets;
}

// Returns "mean 67.67 %, standard deviation 7.22 points" of a score of at least two runs.
std::string spread_of(std::span<const RunResult> runs, double RunResult::*score) {
  const auto n = static_cast<double>(runs.size());
  double mean = 0, squares = 0;
  for (const RunResult& run : runs) mean += run.*score / n;
  for (const RunResult& run : runs) squares += std::pow(run.*score - mean, 2);
  return fmt::format("mean {:.2f} %, standard deviation {:.2f} points", 100 * mean,
                     100 * std::sqrt(squares / (n - 1)));
}

// True if there is a recipe with several datasets, as the folds of a cross-validation.
bool has_folds(const Datasets& datasets) {
  return std::ranges::any_of(datasets, [](const auto& recipe) { return recipe.second.size() > 1; });
}

std::string note_on_folds(std::span<const RunResult> runs, const Datasets& datasets) {
  if (datasets.size() > 1 || datasets.begin()->second.size() < runs.size()) {
    return "The runs have different datasets, so do not select one by its place. For the mean of a "
           "cross-validation, compare the runs of one recipe, one for each fold.";
  }
  return fmt::format(
      "Over {} runs on different datasets: test accuracy: {}; F1 (weighted): {}. The result of a "
      "cross-validation is this mean; do not select one of its folds.",
      runs.size(), spread_of(runs, &RunResult::accuracy), spread_of(runs, &RunResult::f1));
}

}  // namespace

std::map<std::string, std::string> recipe_keys(const RunRecord& run) {
  const auto all = flattened(run.recipe);
  std::map<std::string, std::string> keys(all.begin(), all.end());
  keys.erase("description");
  return keys;
}

Table differences(const std::string& what, std::span<const NamedKeys> runs) {
  constexpr std::size_t kLongest = 60;
  Table table{{what}, {}};
  std::set<std::string> names;
  for (const NamedKeys& run : runs) {
    table.columns.push_back(run.name);
    for (const auto& [name, text] : run.keys) names.insert(name);
  }
  for (const std::string& name : names) {
    std::vector<std::string> texts;
    std::set<std::string> different;
    for (const NamedKeys& run : runs) {
      texts.push_back(text_of(run, name, "–"));
      if (!run.keys.empty()) different.insert(texts.back());
    }
    if (different.size() < 2) continue;
    std::vector<Cell> row{name};
    for (const std::string& text : texts) {
      const auto other = std::ranges::find_if(texts, [&](const std::string& each) { return each != text; });
      row.emplace_back(text.size() > kLongest ? from_difference(text, *other, kLongest) : text);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Ranking ranked(std::span<const RunResult> runs, std::span<const NamedKeys> recipes) {
  constexpr std::size_t kFewKeys = 6;
  Ranking ranking;
  const Datasets datasets = datasets_by_recipe(runs, recipes);
  const bool folds = has_folds(datasets);
  if (folds) ranking.note = note_on_folds(runs, datasets);
  const auto known = [&](std::size_t r) { return runs[r].validation_accuracy.has_value(); };
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return runs[a].validation_accuracy > runs[b].validation_accuracy;  // no value is below every number
  });
  if (order.empty() || !known(order.front())) {
    if (folds) return ranking;
    ranking.warnings.emplace_back(
        "No run has validations (data.validation_split), so the runs are not ranked: selecting by test "
        "accuracy would bias the test.");
    return ranking;
  }
  if (!validated_alike(runs, recipes)) {
    ranking.warnings.emplace_back(
        "The runs were not all validated on the same samples, so small differences between their validation "
        "accuracies are meaningless.");
  }
  if (!folds) {
    ranking.note =
        "Ranked by validation accuracy. Select a run by it; report the test accuracy only of the run that you "
        "selected.";
  }
  Table keys = differences("key", recipes);
  if (keys.rows.size() > kFewKeys) keys.rows.clear();
  Table& table = ranking.table;
  table.columns = {"place", "run"};
  for (const std::vector<Cell>& row : keys.rows) table.columns.push_back(row.front().text);
  table.columns.insert(table.columns.end(), {"validation accuracy", "test accuracy", "makespan"});
  std::int64_t place = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t r = order[i];
    const bool tied = i > 0 && runs[r].validation_accuracy == runs[order[i - 1]].validation_accuracy;
    if (!tied) place = static_cast<std::int64_t>(i) + 1;
    std::vector<Cell> row{known(r) ? Cell::count(place) : Cell("–"), runs[r].name};
    for (const std::vector<Cell>& key : keys.rows) row.push_back(key[r + 1]);
    row.push_back(known(r) ? Cell::percent(*runs[r].validation_accuracy, 2) : Cell("–"));
    row.push_back(Cell::percent(runs[r].accuracy, 2));
    row.push_back(runs[r].resumed ? Cell("–") : Cell::seconds(runs[r].makespan));
    table.rows.push_back(std::move(row));
  }
  return ranking;
}

}  // namespace convoke::report
