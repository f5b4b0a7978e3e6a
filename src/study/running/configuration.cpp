#include "convoke/study/running/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

// Returns every combination of values on the axes of recipe keys, as changes.
std::vector<std::vector<std::string>> variants_of(const std::vector<Axis>& axes) {
  std::vector<std::vector<std::string>> variants{{}};
  for (const Axis& axis : axes) {
    std::vector<std::vector<std::string>> more;
    for (const std::vector<std::string>& before : variants) {
      for (const std::string& value : axis.values) {
        more.push_back(before);
        more.back().push_back(axis.key + "=" + value);
      }
    }
    variants = std::move(more);
  }
  return variants;
}

// Returns the members that `ranks` ranks train: as many as ranks, unless the recipe says how many.
std::int64_t member_count(const recipe::Recipe& recipe, std::int64_t ranks) {
  if (recipe.train.mode != "ensemble") return 1;
  return recipe.ensemble.members > 0 ? recipe.ensemble.members : ranks;
}

// Returns why `ranks` ranks cannot train `recipe`: a step has no micro-batch for some rank, or, with
// `emulated`, its members have not as many ranks each. Empty if they can.
std::string obstacle(const recipe::Recipe& recipe, std::int64_t ranks, bool emulated) {
  const std::int64_t members = member_count(recipe, ranks);
  if (emulated && (ranks % members != 0 || !recipe.ensemble.ranks.empty())) {
    return fmt::format("an emulated ensemble needs as many ranks for each member, but {} have {}",
                       counted(members, "member"),
                       recipe.ensemble.ranks.empty() ? counted(ranks, "rank") : "ensemble.ranks");
  }
  const std::int64_t micro_batches = recipe.train.step.batch / recipe.micro_batch();
  const std::int64_t group = (ranks + members - 1) / members;  // size of the largest group
  if (group <= micro_batches) return {};
  return fmt::format("{} ranks{}, but a step of {} samples has {} of {}: {} would have no work", group,
                     recipe.train.mode == "ensemble" ? " for a member" : "", recipe.train.step.batch,
                     counted(micro_batches, "micro-batch"), recipe.micro_batch(), group - micro_batches);
}

/// The place of a configuration on the axes.
struct Point {
  const std::string& recipe;
  const std::vector<std::string>& variant;
  const Mode* mode;  ///< null: the recipe's
  std::int64_t ranks, threads;
  const double* fraction;  ///< null: the recipe's
  const std::string& batch;
};

// Rewrites a recipe's message about a change to name the place in the study: "study "mine", [set]
// train.epochs=0: ...".
recipe::Recipe load(const StudyFile& study, const Point& point, const Configuration& made) {
  try {
    return recipe::Recipe::load(made.recipe, made.changes);
  } catch (const Error& error) {
    std::string complaint = error.what();
    const auto name_section = [&](const std::string& section, const std::vector<std::string>& changes) {
      for (const std::string& change : changes) {
        const std::string place = "--set " + change;
        if (complaint.starts_with(place + ":")) complaint.replace(0, place.size(), section + " " + change);
      }
    };
    name_section("[set]", study.set);
    name_section("[axes]", point.variant);
    throw Error(fmt::format("study \"{}\", {}", study.name, complaint), error.hint());
  }
}

Configuration planned_configuration(const StudyFile& study, const Point& point) {
  Configuration made;
  made.recipe = point.recipe;
  made.changes = study.set;
  const auto change = [&](const std::string& text) { made.changes.push_back(text); };
  for (const std::string& text : point.variant) change(text);
  change(fmt::format("run.threads={}", point.threads));
  std::vector<std::string> variant = point.variant;
  if (point.mode != nullptr)
    change("train.mode=" + std::string(point.mode->name == "sync" ? "sync" : "ensemble"));
  if (point.mode != nullptr && point.mode->name == "groups") {
    variant.push_back(fmt::format("ensemble.members={}", point.mode->members));
    change(variant.back());
  }
  if (point.fraction != nullptr) change(fmt::format("data.fraction={}", *point.fraction));

  recipe::Recipe recipe = load(study, point, made);
  const std::int64_t members = member_count(recipe, point.ranks);
  if (point.batch == "weak") {
    // The batch grows with the ranks of a member; the micro-batch, which may depend on the batch, must not
    // change.
    const std::int64_t group = std::max<std::int64_t>(1, point.ranks / members);
    change(fmt::format("train.micro_batch={}", recipe.micro_batch()));
    change(fmt::format("train.batch={}", recipe.train.step.batch * group));
    recipe = load(study, point, made);
  }
  made.at = {.system = recipe.name,
             .mode = point.mode != nullptr ? point.mode->name : recipe.train.mode,
             .ranks = point.ranks,
             .threads = point.threads,
             .fraction = recipe.data.samples.fraction,
             .batch = point.batch,
             .variant = join(variant, " "),
             .emulated = point.mode != nullptr && point.mode->emulated};
  made.name = run_name(made.at);
  made.seed = recipe.seed;
  made.epochs = recipe.train.loop.epochs;
  made.members = members;
  made.obstacle = obstacle(recipe, point.ranks, made.at.emulated);
  return made;
}

std::vector<Configuration> all_of(const StudyFile& study) {
  std::vector<const Mode*> modes;
  for (const Mode& mode : study.modes) modes.push_back(&mode);
  if (modes.empty()) modes.push_back(nullptr);
  std::vector<const double*> fractions;
  for (const double& fraction : study.fractions) fractions.push_back(&fraction);
  if (fractions.empty()) fractions.push_back(nullptr);

  std::vector<Configuration> all;
  for (const std::string& recipe : study.recipes) {
    for (const std::vector<std::string>& variant : variants_of(study.axes)) {
      for (const Mode* mode : modes) {
        const bool groups = mode != nullptr && mode->name == "groups";  // groups determine their ranks
        const std::vector<std::int64_t> ranks =
            groups ? std::vector{mode->members * mode->member_ranks} : study.ranks;
        for (const double* fraction : fractions) {
          for (const std::string& batch : study.batches) {
            for (const std::int64_t n : ranks) {
              for (const std::int64_t threads : study.threads) {
                all.push_back(
                    planned_configuration(study, {recipe, variant, mode, n, threads, fraction, batch}));
              }
            }
          }
        }
      }
    }
  }
  return all;
}

std::vector<std::string> obstacles_of(const std::vector<Configuration>& all) {
  std::vector<std::string> list;
  for (const Configuration& each : all) {
    if (!each.obstacle.empty()) list.push_back(each.name + ": " + each.obstacle);
  }
  return list;
}

void require_distinct(const std::vector<Configuration>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (all[i].recipe != all[j].recipe && all[i].at.system == all[j].at.system) {
        throw Error(fmt::format("recipes {} and {} have the same name, \"{}\"", all[j].recipe, all[i].recipe,
                                all[i].at.system),
                    "give each recipe its own name = \"...\"");
      }
      if (all[i].name != all[j].name) continue;
      throw Error(
          fmt::format("two configurations of the study are equal, or have the same name: {}", all[i].name),
          "remove the duplicate: a recipe, a mode, or a value of an axis");
    }
  }
}

}  // namespace

std::vector<std::string> Configuration::changes_of(const StudyFile& study, std::int64_t repeat) const {
  std::vector<std::string> all = changes;
  if (study.new_seeds && repeat > 1) {
    all.push_back(fmt::format("seed={}", seed + static_cast<std::uint64_t>(repeat - 1)));
  }
  return all;
}

std::vector<std::string> obstacles(const StudyFile& study) { return obstacles_of(all_of(study)); }

std::vector<Configuration> planned_configurations(const StudyFile& study) {
  std::vector<Configuration> all = all_of(study);
  require_distinct(all);
  const std::vector<std::string> impossible = obstacles_of(all);
  if (impossible.empty()) return all;
  if (!study.leave_out || impossible.size() == all.size()) {
    throw Error(
        fmt::format("{} of {} configurations cannot run:\n  {}", impossible.size(), all.size(),
                    join(impossible, "\n  ")),
        "set a smaller train.micro_batch or a larger train.batch under [set], use fewer ranks, or set "
        "leave_out = true");
  }
  std::erase_if(all, [](const Configuration& each) { return !each.obstacle.empty(); });
  return all;
}

std::optional<std::size_t> find_configuration(std::span<const Configuration> configurations,
                                              const Measurement& run) {
  const Coordinates at = on_any_machine(coordinates(run));
  const auto it = std::ranges::find(configurations, at, &Configuration::at);
  if (it == configurations.end()) return std::nullopt;
  return static_cast<std::size_t>(it - configurations.begin());
}

const Configuration* quickest(std::span<const Configuration> configurations,
                              const std::function<bool(const Configuration&)>& allowed) {
  const auto cost = [](const Configuration& configuration) {
    return configuration.at.fraction * static_cast<double>(configuration.epochs) /
           static_cast<double>(configuration.at.workers());
  };
  const Configuration* best = nullptr;
  for (const Configuration& configuration : configurations) {
    if (allowed(configuration) && (best == nullptr || cost(configuration) < cost(*best)))
      best = &configuration;
  }
  return best;
}

std::vector<std::uint32_t> order_of_round(std::int64_t count, std::uint64_t seed, std::int64_t round) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, {seed, Purpose::kStudy, static_cast<std::uint32_t>(round), 0});
  return order;
}

}  // namespace convoke::study
