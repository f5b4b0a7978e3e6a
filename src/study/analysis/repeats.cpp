#include "study/analysis/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

// Repeats have different seeds. Coordinates hold the fraction, the mode and the threads. Hosts have the same
// data at different places: its hash is compared.
constexpr std::array<std::string_view, 7> kNotCompared{"description",
                                                       "seed",
                                                       "data.path",
                                                       "data.fraction",
                                                       "train.mode",
                                                       "run.threads",
                                                       "run.checkpoint_fallback"};

fs::path recipe_file(const PublishedTable& table, const std::string& name) {
  return table.rows.front().folder / "recipes" / (name + ".toml");
}

// Returns every key with its value; none if there is no such file, or one that cannot be read by this version
// or without a model file that is not on this host.
std::map<std::string, std::string> stored_recipe(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return {};
  try {
    const auto values = flattened(recipe::Recipe::load(file.string()).settings());
    return {values.begin(), values.end()};
  } catch (const Error&) {
    return {};
  }
}

// True if the variant sets this key, or the table that has it: "train.optimizer={ name = \"sgd\" }".
bool is_set_in(const std::string& variant, std::string key) {
  while ((" " + variant).find(" " + key + "=") == std::string::npos) {
    const std::size_t dot = key.rfind('.');
    if (dot == std::string::npos) return false;
    key.resize(dot);
  }
  return true;
}

// "train.epochs: 4 instead of 1"; for values as long as a list of layers, the key alone.
std::string changed_value(const std::string& key, const std::string& then, const std::string& now) {
  constexpr std::size_t kLongest = 40;
  if (std::max(then.size(), now.size()) > kLongest) return key;
  const auto shown = [](const std::string& value) { return value.empty() ? "absent" : value; };
  return fmt::format("{}: {} instead of {}", key, shown(now), shown(then));
}

// Returns two runs with the same coordinates whose values are known and differ; null if there are none.
template <class Value>
std::pair<const TableRow*, const TableRow*> runs_that_differ(std::span<const TableRow> rows,
                                                             Value Measurement::*value) {
  std::map<Coordinates, const TableRow*> first;
  for (const TableRow& row : rows) {
    const Measurement& run = row.measurement;
    if (run.has_mark("failed") || run.*value == Value()) continue;
    const TableRow* known = first.try_emplace(coordinates(run), &row).first->second;
    if (known->measurement.*value != run.*value) return {known, &row};
  }
  return {};
}

}  // namespace

void require_same_recipes(const PublishedTable& earlier, const PublishedTable& later) {
  if (earlier.rows.empty() || later.rows.empty()) return;
  std::set<std::string> names;
  for (const TableRow& row : later.rows) names.insert(row.measurement.system);
  for (const std::string& name : names) {
    const auto then = stored_recipe(recipe_file(earlier, name)),
               now = stored_recipe(recipe_file(later, name));
    if (then.empty() || now.empty()) continue;
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const auto& [key, value] : then) values[key].first = value;
    for (const auto& [key, value] : now) values[key].second = value;
    const auto is_coordinate = [&](const std::string& key) {
      const auto varies = [&](const TableRow& row) {
        return row.measurement.system != name || is_set_in(row.measurement.variant, key);
      };
      return std::ranges::all_of(earlier.rows, varies) && std::ranges::all_of(later.rows, varies);
    };
    std::vector<std::string> changed;
    for (const auto& [key, both] : values) {
      if (both.first == both.second || std::ranges::count(kNotCompared, key) > 0 || is_coordinate(key))
        continue;
      changed.push_back(changed_value(key, both.first, both.second));
    }
    if (changed.empty()) continue;
    throw Error(
        fmt::format("{}: is not the recipe {} ({})", recipe_file(later, name).lexically_normal().string(),
                    recipe_file(earlier, name).lexically_normal().string(), join(changed, "; ")),
        fmt::format("runs of different recipes are not repeats: analyze them separately, or give one of the "
                    "two another name than \"{}\"",
                    name));
  }
}

void require_one_dataset(std::span<const TableRow> rows) {
  const auto [first, other] = runs_that_differ(rows, &Measurement::dataset_hash);
  if (first == nullptr) return;
  throw Error(
      fmt::format("{}: is a run on another dataset than {}, with the same name and settings ({} instead of "
                  "{})",
                  other->where, first->where, other->measurement.dataset_hash,
                  first->measurement.dataset_hash),
      "runs on different datasets are not repeats: give them different names in the column system");
}

std::string notice_of_epochs(std::span<const TableRow> rows) {
  const auto [first, other] = runs_that_differ(rows, &Measurement::epochs);
  if (first == nullptr) return {};
  return fmt::format(
      "{}: trained {}, and {} {}, with the same name and settings: they are repeats only if "
      "training stopped early",
      other->where, counted(other->measurement.epochs, "epoch"), first->where, first->measurement.epochs);
}

}  // namespace convoke::study
