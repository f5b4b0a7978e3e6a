#include "convoke/study/analysis/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

double chance_of_cover(std::int64_t first_runs, std::int64_t second_runs) {
  const auto n = static_cast<double>(first_runs), m = static_cast<double>(second_runs);
  return 1 - student_p(student_t(n - 1) / std::sqrt(1 + n / m), n - 1);
}

std::optional<ReplicatedConfiguration> compared(const MeasuredConfiguration& first,
                                                const MeasuredConfiguration* second) {
  if (second == nullptr) return {};
  const Statistics *a = first.find("makespan_seconds"), *b = second->find("makespan_seconds");
  if (a == nullptr || b == nullptr || !a->interval || a->mean <= 0) return {};
  ReplicatedConfiguration configuration{
      .at = first.at, .first = *a, .second = *b, .change = ratio(*b, *a), .marks = first.marks};
  configuration.covered = a->interval->low <= b->mean && b->mean <= a->interval->high;
  configuration.chance = chance_of_cover(a->count, b->count);
  add_marks(configuration.marks, second->marks);
  return configuration;
}

namespace fs = std::filesystem;

/// Values of a recipe by their paths, as flattened().
using Values = std::vector<std::pair<std::string, std::string>>;

// Repeats have different seeds. Coordinates hold the fraction and the mode.
constexpr std::array<std::string_view, 3> kNotCompared{"seed", "data.fraction", "train.mode"};

// A resumed run may change these keys, but they decide the work or its time.
constexpr std::array<std::string_view, 10> kAlsoCompared{
    "train.epochs",   "train.memory", "data.test_split",  "ensemble.rule",    "ensemble.ranks",
    "ensemble.soups", "run.balance",  "run.share_memory", "run.verify_every", "run.bucket_kib"};

fs::path recipe_file(const PublishedTable& table, const std::string& name) {
  return table.rows.front().folder / "recipes" / (name + ".toml");
}

// Returns the values that repeats share; none if there is no such file, or one that cannot be read by this
// version or without a model file that is not on this host.
Values stored_recipe(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return {};
  try {
    const Settings all = recipe::Recipe::load(file.string()).settings();
    std::vector<std::string> keys = recipe::keys_of_result();
    keys.insert(keys.end(), kAlsoCompared.begin(), kAlsoCompared.end());
    Values values;
    for (const std::string& key : keys) {
      const Value* const value = value_at(all, key);
      if (value == nullptr || std::ranges::count(kNotCompared, key) > 0) continue;
      for (auto& entry : flattened({{key, *value}})) values.push_back(std::move(entry));
    }
    // Hosts have the same file at different places.
    if (!text_at(all, "model.weights").empty()) values.emplace_back("model.weights", "of a file");
    return values;
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

// The curve of a run, on any machine.
Coordinates curve_of(const TableRow& row) {
  return on_any_machine(on_any_ranks(coordinates(row.measurement)));
}

// Returns two runs with the same coordinates whose values are known and differ; null if there are none.
// `within`: also runs of one folder.
template <class Value>
std::pair<const TableRow*, const TableRow*> runs_that_differ(std::span<const TableRow> rows,
                                                             Value Measurement::*value, bool within) {
  std::map<Coordinates, const TableRow*> first;
  for (const TableRow& row : rows) {
    const Measurement& run = row.measurement;
    if (run.has_mark("failed") || run.*value == Value()) continue;
    const TableRow* known = first.try_emplace(coordinates(run), &row).first->second;
    if (known->measurement.*value != run.*value && (within || known->folder != row.folder))
      return {known, &row};
  }
  return {};
}

}  // namespace

std::int64_t Replication::covered() const {
  return std::ranges::count(configurations, true, &ReplicatedConfiguration::covered);
}

double Replication::expected() const {
  double sum = 0;
  for (const ReplicatedConfiguration& configuration : configurations) sum += configuration.chance;
  return sum;
}

Replication replication(std::span<const MeasuredConfiguration> first,
                        std::span<const MeasuredConfiguration> second) {
  Replication all;
  for (const MeasuredConfiguration& configuration : first) {
    if (auto both = compared(configuration, configuration_at(second, configuration.at))) {
      all.configurations.push_back(*std::move(both));
    } else {
      all.left_out.push_back(configuration.at);
    }
  }
  for (const MeasuredConfiguration& configuration : second) {
    if (configuration_at(first, configuration.at) == nullptr) all.left_out.push_back(configuration.at);
  }
  return all;
}

TextTable table_of(const Replication& replication) {
  TextTable table{"Repetition",
                  "means ± half the 95 % Student-t interval; change: second / first - 1, Fieller's interval",
                  {"configuration", "first (s)", "second (s)", "change (%)", "within the first's interval"}};
  for (const ReplicatedConfiguration& configuration : replication.configurations) {
    const Ratio percent = transformed(configuration.change, [](double q) { return 100 * (q - 1); });
    table.rows.push_back({marked(to_string(configuration.at), configuration.marks),
                          with_error(configuration.first.mean, configuration.first.interval),
                          with_error(configuration.second.mean, configuration.second.interval),
                          with_ends(percent, 1), configuration.covered ? "yes" : "no"});
  }
  return table;
}

std::string sentence(const Replication& replication) {
  const auto configurations = static_cast<std::int64_t>(replication.configurations.size());
  if (configurations == 0) return "repetition: the two studies have no common configuration with an interval";
  std::string text = fmt::format(
      "repetition: {} of {} means of the second study lie within the first's intervals ({:.0f} %); {:.1f} "
      "are expected if the studies differ only by chance, because the second mean scatters too",
      replication.covered(), configurations,
      100.0 * static_cast<double>(replication.covered()) / static_cast<double>(configurations),
      replication.expected());
  if (!replication.left_out.empty()) {
    std::vector<std::string> names;
    for (const Coordinates& at : replication.left_out) names.push_back(to_string(at));
    text += "; left out, because only one study has them or they have no interval: " + join(names, "; ");
  }
  return text;
}

void require_same_recipes(const PublishedTable& earlier, const PublishedTable& later) {
  std::set<Coordinates> curves;
  for (const TableRow& row : earlier.rows) curves.insert(curve_of(row));
  std::map<std::string, std::set<std::string>> variants;  // of curves in both tables, by system
  for (const TableRow& row : later.rows) {
    if (const Coordinates at = curve_of(row); curves.contains(at)) variants[at.system].insert(at.variant);
  }
  for (const auto& [name, of_name] : variants) {
    Values then = stored_recipe(recipe_file(earlier, name)), now = stored_recipe(recipe_file(later, name));
    if (then.empty() || now.empty()) continue;
    const auto is_axis = [&, &all = of_name](const auto& value) {
      return std::ranges::all_of(all, [&](const auto& variant) { return is_set_in(variant, value.first); });
    };
    std::erase_if(then, is_axis);
    std::erase_if(now, is_axis);
    const std::vector<std::string> changed = differences(then, now, "there");
    if (changed.empty()) continue;
    constexpr std::size_t kLongest = 300;  // lists of layers are longer
    throw Error(
        fmt::format("{}: is not the recipe {} ({})", recipe_file(later, name).lexically_normal().string(),
                    recipe_file(earlier, name).lexically_normal().string(),
                    shortened(join(changed, "; "), kLongest)),
        fmt::format("runs of different recipes are not repeats: analyze them separately, or give one of "
                    "them another name than \"{}\" in the column system",
                    name));
  }
}

void require_one_dataset(std::span<const TableRow> rows) {
  const auto [first, other] = runs_that_differ(rows, &Measurement::dataset_hash, true);
  if (first == nullptr) return;
  throw Error(
      fmt::format("{}: is a run on another dataset than {}, with the same name and settings ({} instead of "
                  "{})",
                  other->where, first->where, other->measurement.dataset_hash,
                  first->measurement.dataset_hash),
      "runs on different datasets are not repeats: give them different names in the column system");
}

std::string notice_of_epochs(std::span<const TableRow> rows) {
  const auto [first, other] = runs_that_differ(rows, &Measurement::epochs, false);
  if (first == nullptr) return {};
  return fmt::format(
      "{}: trained {}, and {} {}, with the same name and settings: they are repeats only if "
      "training stopped early",
      other->where, counted(other->measurement.epochs, "epoch"), first->where, first->measurement.epochs);
}

}  // namespace convoke::study
