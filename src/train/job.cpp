#include "convoke/train/job.hpp"

#include <algorithm>
#include <array>

#include "convoke/core/keys.hpp"
#include "convoke/core/random.hpp"
#include "convoke/nn/freeze.hpp"

namespace convoke::train {

std::uint64_t member_seed(std::uint64_t seed, std::int64_t member) {
  if (member == 0) return seed;
  // Shuffles never reach this epoch, so no other stream has this key.
  return RandomStream({seed, Purpose::kShard, 0xFFFFFFFF, static_cast<std::uint64_t>(member)}).next_word();
}

namespace {

std::optional<Value> write_rate(const KeyFacts&, const Stage& stage) {
  if (stage.learning_rate == 0) return std::nullopt;
  return stage.learning_rate;
}

constexpr Key<Stage> rate_key() {
  Key<Stage> rate = key<&Stage::learning_rate>(
      {.name = "learning_rate", .range = {.above = 0}, .help = "the base rate from this epoch on"});
  rate.write = write_rate;
  return rate;
}

constexpr std::array kStageKeys{
    key<&Stage::epoch>(
        {.name = "epoch",
         .range = {.least = 2},
         .required = true,
         .help =
             "the first epoch of the stage, counted from 1; training starts with the recipe's own settings"}),
    key<&Stage::unfreeze>({.name = "unfreeze", .help = "nodes that are also trained from this epoch on"}),
    rate_key(),
};

}  // namespace

Stage Stage::read(const Settings& settings) {
  SettingsReader read(settings, "train.stages");
  Stage stage;
  read_keys(kStageKeys, read, stage);
  read.finish();
  if (stage.unfreeze.empty() && stage.learning_rate == 0) {
    read.fail("the stage changes nothing", "set \"unfreeze\", \"learning_rate\", or both");
  }
  return stage;
}

Settings Stage::settings() const {
  Settings settings;
  write_keys(kStageKeys, *this, settings);
  return settings;
}

std::vector<OptionTable> Stage::tables() { return {{"", describe_keys(kStageKeys)}}; }

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

nn::Graph graph_in_epoch(const Job& job, std::int64_t epoch) {
  const std::span<const Stage> stages = job.loop.stages;
  return unfrozen_by(stages.first(stages_begun(stages, epoch - 1)), job.model.graph, 0);
}

double learning_rate_after(std::span<const Stage> stages, double first) {
  double rate = first;
  for (const Stage& stage : stages) rate = stage.learning_rate > 0 ? stage.learning_rate : rate;
  return rate;
}

}  // namespace convoke::train
