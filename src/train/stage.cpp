#include "convoke/train/stage.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/nn/freeze.hpp"

namespace convoke::train {

Stage Stage::read(const Settings& settings) {
  SettingsReader read(settings, "train.stages");
  Stage stage;
  stage.epoch = read.require_int("epoch");
  read.check("epoch", stage.epoch >= 2, "at least 2: the first stage is the recipe itself");
  stage.unfreeze = read.get("unfreeze", stage.unfreeze);
  if (read.has("learning_rate")) {
    stage.learning_rate = read.get("learning_rate", stage.learning_rate);
    read.check("learning_rate", stage.learning_rate > 0 && std::isfinite(stage.learning_rate),
               "a number above 0");
  }
  read.finish();
  if (stage.unfreeze.empty() && stage.learning_rate == 0) {
    read.fail("a stage that changes nothing", "give it \"unfreeze\" or \"learning_rate\", or both");
  }
  return stage;
}

Settings Stage::settings() const {
  Settings settings{{"epoch", epoch}, {"unfreeze", Value::Array(unfreeze.begin(), unfreeze.end())}};
  if (learning_rate > 0) settings.set("learning_rate", learning_rate);
  return settings;
}

std::size_t stages_begun(std::span<const Stage> stages, std::int64_t epochs_done) {
  return static_cast<std::size_t>(std::count_if(
      stages.begin(), stages.end(), [&](const Stage& stage) { return stage.epoch <= epochs_done + 1; }));
}

nn::Graph unfrozen_by(std::span<const Stage> stages, nn::Graph graph, std::int64_t steps_per_epoch) {
  for (const Stage& stage : stages) {
    nn::unfreeze(graph, stage.unfreeze, (stage.epoch - 1) * steps_per_epoch);
  }
  return graph;
}

double learning_rate_after(std::span<const Stage> stages, double first) {
  double rate = first;
  for (const Stage& stage : stages) rate = stage.learning_rate > 0 ? stage.learning_rate : rate;
  return rate;
}

}  // namespace convoke::train
