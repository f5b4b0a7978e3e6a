#include "convoke/train/early_stopping.hpp"

#include <array>
#include <cmath>
#include <limits>

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

}  // namespace

EarlyStopping EarlyStopping::read(const Settings& settings) {
  if (settings.empty()) return EarlyStopping();
  SettingsReader read(settings, "early_stopping");
  EarlyStoppingOptions options;
  options.monitor = read.get("monitor", options.monitor);
  find_in(kMonitors, options.monitor, "monitor", settings.where());
  options.patience = read.require_int("patience");
  read.check("patience", options.patience >= 0, "at least 0");
  options.min_delta = read.get("min_delta", options.min_delta);
  read.check("min_delta", options.min_delta >= 0 && std::isfinite(options.min_delta), "at least 0");
  options.restore_best = read.get("restore_best", true);
  read.finish();
  return EarlyStopping(options);
}

double EarlyStopping::cost(double loss, double accuracy) const {
  const double cost = find_in(kMonitors, options_.monitor, "monitor").less_is_better(loss, accuracy);
  return std::isfinite(loss) && std::isfinite(cost) ? cost : std::numeric_limits<double>::infinity();
}

bool EarlyStopping::judge(const engine::Score& score, std::int64_t updates, run::BestSoFar& best) const {
  ++best.evaluations;
  // There is no best yet where none has been finite: its loss is NaN then, and its cost infinite.
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
  return {{"monitor", options_.monitor},
          {"patience", options_.patience},
          {"min_delta", options_.min_delta},
          {"restore_best", options_.restore_best}};
}

}  // namespace convoke::train
