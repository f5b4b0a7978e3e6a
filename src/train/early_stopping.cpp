#include "convoke/train/early_stopping.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "convoke/core/keys.hpp"
#include "convoke/core/table.hpp"

namespace convoke::train {
namespace {

struct Monitor {
  std::string_view name;
  double (*less_is_better)(double loss, double accuracy);
};

constexpr std::array kMonitors{
    Monitor{"validation_loss", [](double loss, double) { return loss; }},
    Monitor{"validation_accuracy", [](double, double accuracy) { return -accuracy; }},
};

constexpr std::array kEarlyStoppingKeys{
    key<&EarlyStoppingOptions::monitor>({.name = "monitor",
                                         .names = [] { return names_in(kMonitors); },
                                         .help = "the measure that compares validations"}),
    key<&EarlyStoppingOptions::patience>(
        {.name = "patience",
         .range = {.least = 0},
         .required = true,
         .help = "training ends after this many validations without improvement in a row"}),
    key<&EarlyStoppingOptions::min_delta>(
        {.name = "min_delta", .range = {.least = 0}, .help = "an improvement must be larger than this"}),
    key<&EarlyStoppingOptions::restore_best>(
        {.name = "restore_best", .fallback = "true", .help = "keep the best weights, not the last ones"}),
};

}  // namespace

EarlyStopping EarlyStopping::read(const Settings& settings) {
  if (settings.empty()) return EarlyStopping();
  SettingsReader read(settings, "early_stopping");
  EarlyStoppingOptions options;
  options.restore_best = true;
  read_keys(kEarlyStoppingKeys, read, options);
  read.finish();
  return EarlyStopping(options);
}

double EarlyStopping::cost(double loss, double accuracy) const {
  const double cost = find_in(kMonitors, options_.monitor, "monitor").less_is_better(loss, accuracy);
  return std::isfinite(loss) && std::isfinite(cost) ? cost : std::numeric_limits<double>::infinity();
}

bool EarlyStopping::record(const engine::Score& score, std::int64_t updates, run::BestSoFar& best) const {
  ++best.evaluations;
  // As long as no validation was finite there is no best one: its loss is NaN, and its cost infinite.
  const double before = cost(best.loss, best.accuracy), now = cost(score.loss, score.accuracy);
  if (std::isinf(before) ? std::isfinite(now) : now + options_.min_delta < before) {
    best.wait = 0;
    best.updates = updates;
    best.loss = score.loss;
    best.accuracy = score.accuracy;
    return true;
  }
  ++best.wait;
  best.stopped = stops() && best.wait >= options_.patience;
  return false;
}

Settings EarlyStopping::settings() const {
  if (!stops()) return {};
  Settings settings;
  write_keys(kEarlyStoppingKeys, options_, settings);
  return settings;
}

std::vector<OptionTable> EarlyStopping::tables() { return {{"", describe_keys(kEarlyStoppingKeys)}}; }

}  // namespace convoke::train
