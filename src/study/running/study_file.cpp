#include "convoke/study/running/study_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/versions.hpp"
#include "convoke/recipe/toml.hpp"
#include "convoke/run/checkpoint_interval.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

// Formats a value for --set: text without quotes, unless it would be parsed as another type.
std::string set_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data())) {
    const bool plain = text->find_first_of(" \t\"'\\") == std::string::npos && !text->empty();
    if (plain && recipe::parse_value(*text, "") == value) return *text;
  }
  return value.to_string();
}

// Returns "train.optimizer.learning_rate" and its value, for each value in `table`.
void flatten(const Settings& table, const std::string& prefix,
             std::vector<std::pair<std::string, Value>>& flat) {
  for (const auto& [key, value] : table.entries()) {
    if (const Settings* inner = value.table()) {
      flatten(*inner, prefix + key + ".", flat);
    } else {
      flat.emplace_back(prefix + key, value);
    }
  }
}

std::vector<std::pair<std::string, Value>> keys_of(SettingsReader& read, const char* section) {
  std::vector<std::pair<std::string, Value>> flat;
  flatten(read.table(section), "", flat);
  return flat;
}

// Keys that have their own axis, or that a study sets.
void require_free(const SettingsReader& read, const std::string& section, const std::string& key) {
  constexpr std::pair<std::string_view, std::string_view> kOwn[] = {
      {"run.threads", "threads"}, {"train.mode", "mode"}, {"data.fraction", "fraction"}};
  for (const auto& [recipe_key, axis] : kOwn) {
    if (key == recipe_key) {
      read.fail_at(section, fmt::format("\"{}\" has its own axis", key),
                   fmt::format("write {} = [...] at the top", axis));
    }
  }
}

constexpr std::string_view kEmulated = "emulated ";

Mode mode_from(const SettingsReader& read, const std::string& text) {
  if (text == "sync" || text == "ensemble") return {.name = text};
  if (constexpr std::string_view kBefore = " as if"; text.ends_with(kBefore)) {  // of earlier versions
    read.fail_at("mode", fmt::format("the mode \"{}\" is now \"{}{}\"", text, kEmulated,
                                     text.substr(0, text.size() - kBefore.size())));
  }
  if (text.starts_with(kEmulated)) {
    Mode mode = mode_from(read, text.substr(kEmulated.size()));
    if (mode.name == "sync" || mode.emulated) {
      read.fail_at(
          "mode",
          fmt::format("\"{}\" is no mode: only members of an ensemble can train one after another", text),
          "known: \"emulated ensemble\", \"emulated 4x2\"");
    }
    mode.emulated = true;
    return mode;
  }
  const std::size_t by = text.find('x');
  if (by != std::string::npos) {
    const Mode groups{.name = "groups",
                      .members = parse_number<std::int64_t>(text.substr(0, by)).value_or(0),
                      .member_ranks = parse_number<std::int64_t>(text.substr(by + 1)).value_or(0)};
    if (groups.members > 0 && groups.member_ranks > 0) return groups;
  }
  const std::vector<std::string> known{"sync", "ensemble"};
  read.fail_at(
      "mode", fmt::format("unknown mode \"{}\"{}", text, did_you_mean(text, known)),
      "known: sync, ensemble, groups as members x ranks per member, e.g. \"4x2\", and \"emulated ensemble\"");
}

std::string text_of(const Mode& mode) {
  const std::string name =
      mode.name == "groups" ? fmt::format("{}x{}", mode.members, mode.member_ranks) : mode.name;
  return mode.emulated ? std::string(kEmulated) + name : name;
}

template <class T>
void require_distinct(const SettingsReader& read, const char* key, std::vector<T> values) {
  read.check(key, !values.empty(), "a list of at least one value");
  for (std::size_t i = 0; i < values.size(); ++i) {
    read.check(key, std::count(values.begin(), values.end(), values[i]) == 1,
               "a list without repeated values");
  }
}

std::vector<std::int64_t> read_counts(SettingsReader& read, const char* key) {
  const std::vector<std::int64_t> counts = read.get(key, std::vector<std::int64_t>{1});
  require_distinct(read, key, counts);
  read.check(key, std::ranges::all_of(counts, [](std::int64_t n) { return n >= 1 && n <= 1 << 20; }),
             "a list of whole numbers from 1 on");
  return counts;
}

void read_axes(SettingsReader& read, StudyFile& study, const fs::path& folder) {
  study.recipes = read.get("recipe", std::vector<std::string>{});
  if (study.recipes.empty())
    read.fail_at("recipe", "\"recipe\" is missing", "for example recipe = \"mnist-sync\", or a list");
  require_distinct(read, "recipe", study.recipes);
  for (std::string& recipe : study.recipes) {
    if (!fs::exists(recipe) && fs::exists(folder / recipe)) recipe = (folder / recipe).string();
  }
  study.ranks = read_counts(read, "ranks");
  study.threads = read_counts(read, "threads");
  for (const std::string& mode : read.get("mode", std::vector<std::string>{})) {
    study.modes.push_back(mode_from(read, mode));
  }
  if (!study.modes.empty()) require_distinct(read, "mode", study.modes);
  study.fractions = read.get("fraction", std::vector<double>{});
  if (!study.fractions.empty()) require_distinct(read, "fraction", study.fractions);
  read.check("fraction", std::ranges::all_of(study.fractions, [](double f) { return f > 0 && f <= 1; }),
             "shares above 0 and at most 1");
  study.batches = read.get("batch", study.batches);
  require_distinct(read, "batch", study.batches);
  for (const std::string& batch : study.batches) {
    const std::vector<std::string> known{"strong", "weak"};
    if (std::find(known.begin(), known.end(), batch) != known.end()) continue;
    read.fail_at("batch", fmt::format("unknown batch policy \"{}\"{}", batch, did_you_mean(batch, known)),
                 "known: strong (the same batch in all configurations), weak (the same for each rank)");
  }
  for (const auto& [key, value] : keys_of(read, "set")) {
    require_free(read, "set." + key, key);
    study.set.push_back(key + "=" + set_text(value));
  }
  for (const auto& [key, value] : keys_of(read, "axes")) {
    require_free(read, "axes." + key, key);
    const auto* values = std::get_if<Value::Array>(&value.data());
    if (values == nullptr || values->empty()) {
      read.fail_at(
          "axes." + key, fmt::format("\"{}\" must be a list of values, but is {}", key, value.to_string()),
          fmt::format("[axes] {} = [..., ...]; values that all configurations share belong under [set]",
                      key));
    }
    Axis& axis = study.axes.emplace_back(Axis{key, {}});
    for (const Value& each : *values) axis.values.push_back(set_text(each));
  }
}

void read_measuring(SettingsReader& read, StudyFile& study) {
  study.repeats = read.get_count("repeats", study.repeats, 1);
  study.at_most = read.get_count("at_most", std::max(study.at_most, study.repeats), 1);
  constexpr std::int64_t kMostRuns = 1'000'000;
  read.check("at_most", study.at_most >= study.repeats && study.at_most <= kMostRuns,
             fmt::format("at least repeats, {}, and at most {}", study.repeats, kMostRuns));
  study.target = read.get("target", study.target);
  read.check("target", study.target > 0 && study.target < 1, "a share above 0 and below 1, e.g. 0.05");
  if (read.holds_text("budget")) {
    study.budget_seconds =
        read.at("budget", [&] { return run::seconds_from(read.require_string("budget")); });
  } else {
    study.budget_seconds = read.get("budget", study.budget_seconds);
  }
  read.check("budget", study.budget_seconds >= 0 && std::isfinite(study.budget_seconds),
             "a time, e.g. \"2 h\" or \"90 min\"; 0: no limit");
  study.warm_up = read.get_count("warm_up", study.warm_up, 0);
  study.seed = static_cast<std::uint64_t>(read.get_count("seed", 1, 0));
  study.new_seeds = read.get("new_seeds", study.new_seeds);
  const auto is_seed = [](const Axis& axis) { return axis.key == "seed"; };
  if (study.new_seeds && std::ranges::any_of(study.axes, is_seed)) {
    read.fail_at("axes.seed", "\"seed\" is an axis, but every repeat already has its own seed",
                 "remove the axis (repeats then count up from the recipe's seed), or set new_seeds = false");
  }
  study.columns = read.get("columns", study.columns);
  if (!study.columns.empty()) require_distinct(read, "columns", study.columns);
  read.check("columns",
             std::ranges::all_of(study.columns,
                                 [](const std::string& name) {
                                   return !name.empty() && name.find_first_of(",\"\n") == std::string::npos;
                                 }),
             "names of summary.json, e.g. \"test.ece\"");
  study.contended_above = read.get("contended_above", study.contended_above);
  read.check("contended_above", study.contended_above > 0 && std::isfinite(study.contended_above),
             "a share above 0, e.g. 0.1");
  study.keep_models = read.get("keep_models", study.keep_models);
  study.leave_out = read.get("leave_out", study.leave_out);
}

// Undoes flatten: returns nested tables for TOML.
Settings tables_of(const std::vector<std::pair<std::string, Value>>& flat) {
  Settings all;
  for (const auto& [key, value] : flat) all.set_path(key, value);
  return all;
}

template <class T>
Value::Array list_of(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

StudyFile StudyFile::load(const fs::path& file) {
  const std::optional<std::string> text = read_text(file);
  if (!text) {
    throw Error(fmt::format("cannot read {}", file.string()),
                "pass a study file; apps/studies has examples, and docs/studies.md describes the format");
  }
  return parse(*text, file.string());
}

StudyFile StudyFile::parse(const std::string& toml, const std::string& source) {
  Settings document = recipe::parse_toml(toml, source);
  // The copy in the folder of a study may be of an earlier version.
  if (fs::exists(fs::path(source).parent_path() / "measurements.csv")) rename_keys(document);
  refuse_renamed_keys(document);
  SettingsReader read(document, "study");
  StudyFile study;
  study.name = read.get("name", fs::path(source).stem().string());
  read.check("name", !study.name.empty() && study.name.find_first_of("/\n") == std::string::npos,
             "text that can name a folder");
  read_axes(read, study, fs::path(source).parent_path());
  read_measuring(read, study);
  read.finish();
  return study;
}

Settings StudyFile::settings() const {
  Value::Array modes_text;
  for (const Mode& mode : modes) modes_text.emplace_back(text_of(mode));
  Settings all{
      {"name", name}, {"recipe", list_of(recipes)}, {"ranks", list_of(ranks)}, {"threads", list_of(threads)}};
  if (!modes.empty()) all.set("mode", std::move(modes_text));
  if (!fractions.empty()) all.set("fraction", list_of(fractions));
  all.set("batch", list_of(batches));
  all.set("repeats", repeats);
  all.set("at_most", at_most);
  all.set("target", target);
  all.set("budget", budget_seconds);
  all.set("warm_up", warm_up);
  all.set("seed", static_cast<std::int64_t>(seed));
  all.set("new_seeds", new_seeds);
  if (!columns.empty()) all.set("columns", list_of(columns));
  all.set("contended_above", contended_above);
  all.set("keep_models", keep_models);
  all.set("leave_out", leave_out);
  std::vector<std::pair<std::string, Value>> fixed, varied;
  for (const std::string& change : set) {
    const std::size_t equals = change.find('=');
    fixed.emplace_back(change.substr(0, equals), recipe::parse_value(change.substr(equals + 1), ""));
  }
  for (const Axis& axis : axes) {
    Value::Array values;
    for (const std::string& value : axis.values) values.push_back(recipe::parse_value(value, ""));
    varied.emplace_back(axis.key, std::move(values));
  }
  if (!fixed.empty()) all.set("set", tables_of(fixed));
  if (!varied.empty()) all.set("axes", tables_of(varied));
  return all;
}

std::string StudyFile::to_toml() const { return recipe::to_toml(settings()); }

}  // namespace convoke::study
