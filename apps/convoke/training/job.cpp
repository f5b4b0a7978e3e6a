#include "training/job.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "convoke/data/class_balance.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/train/fit.hpp"

namespace convoke::app {
namespace {

// What a run may change when it is resumed: names, places and what costs time but not bits. (Thread and rank
// counts do change a fast run's rounding, as they would have at its start.)
constexpr std::array<std::string_view, 11> kFree{
    "name",          "description",   "data.path",           "data.test_split",
    "data.memory",   "ensemble.rule", "train.epochs",        "train.emulate_bf16",
    "model.weights", "train.top_k",   "model.cache_features"};
// What is left out at its default: runs from before there was such a key can be resumed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kDefaults{
    {{"data.window", "\"256MiB\""},
     {"model.freeze", "[]"},
     {"train.clip_value", "0.0"},
     {"train.clip_norm", "0.0"},
     {"train.ema", "0.0"},
     {"train.class_weights", "\"none\""},
     {"data.sampling", "\"all\""},
     {"data.portion", "1.0"},
     {"train.reference_batch", "0"},
     {"train.validate_every", "0"},
     {"train.precision", "\"fp32\""},
     {"train.loss.name", "\"softmax_cross_entropy\""}}};
// Schedules that look at the whole length of a run; under others, a finished run may be resumed with more
// epochs.
constexpr std::array<std::string_view, 5> kEndless{"constant", "step", "exponential", "piecewise", "plateau"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void flatten(const Settings& settings, const std::string& prefix, run::Mathematics& flat) {
  for (const auto& [key, value] : settings.entries()) {
    if (const Settings* table = value.table()) {
      flatten(*table, prefix + key + ".", flat);
    } else {
      flat.emplace_back(prefix + key, value.to_string());
    }
  }
}

run::Mathematics mathematics_of(const recipe::Recipe& recipe, const train::Job& job,
                                const std::string& content_hash) {
  run::Mathematics all;
  flatten(recipe.settings(), "", all);
  const auto schedule = std::find_if(all.begin(), all.end(),
                                     [](const auto& entry) { return entry.first == "train.schedule.name"; });
  const std::string_view name =
      schedule == all.end() ? "constant"
                            : std::string_view(schedule->second).substr(1, schedule->second.size() - 2);
  run::Mathematics kept;
  for (const auto& [key, value] : all) {
    const bool free = among(kFree, key) && (key != "train.epochs" || among(kEndless, name));
    const bool no_augmentation = key.starts_with("augment.") && job.augmenter == nullptr;
    const bool other_mode = key.starts_with("ensemble.") && !job.ensemble;
    const bool off = std::find(kDefaults.begin(), kDefaults.end(),
                               std::pair<std::string_view, std::string_view>(key, value)) != kDefaults.end();
    if (!free && !other_mode && !no_augmentation && !off && !key.starts_with("run.") &&
        !key.starts_with("log."))
      kept.emplace_back(key, value);
  }
  // What the recipe leaves to be derived.
  for (auto& [key, value] : kept) {
    if (key == "train.lane") value = std::to_string(job.engine.lane);
    if (key == "ensemble.members") value = std::to_string(job.members);
  }
  kept.emplace_back("data.content_hash", content_hash);
  return kept;
}

// With class weights from the counts of the training split, if the recipe asks for them.
nn::LossPtr loss_of(const recipe::Recipe& recipe, const data::Dataset& dataset) {
  if (!recipe.train.balance_classes) return nn::make_loss(recipe.train.loss);
  const std::vector<double> weights =
      data::balanced_class_weights(dataset.split(recipe.data.train_split).labels, dataset.info().classes);
  Settings loss = recipe.train.loss;
  loss.set("class_weights", Value::Array(weights.begin(), weights.end()));
  return nn::make_loss(loss);
}

}  // namespace

engine::EngineOptions engine_options(const recipe::Recipe& recipe, int threads) {
  nn::require_precision(recipe.train.precision, recipe.train.emulate_bf16);
  return {.batch = recipe.train.batch,
          .lane = recipe.lane(),
          .seed = recipe.seed,
          .reduction = recipe.train.reduction,
          .convolution = recipe.train.convolution,
          .precision = recipe.train.precision,
          .loss = nn::make_loss(recipe.train.loss),
          .threads = threads,
          .bucket_bytes = static_cast<std::size_t>(recipe.run.bucket_kib) * 1024,
          .update = recipe.train.update};
}

train::Job job_from(const recipe::Recipe& recipe, const data::Dataset& dataset, int threads, int ranks) {
  train::Job job({.graph = recipe.graph(),
                  .normalization = data::normalization_from(recipe.data.normalize, dataset.info(),
                                                            dataset.file().string()),
                  .class_names = dataset.info().class_names,
                  .loss = loss_of(recipe, dataset),
                  .class_count = dataset.info().classes,
                  .precision = recipe.train.precision,
                  .preparation = dataset.info().preparation});
  train::require_fit(job.model, recipe.name, dataset.info(), dataset.file());
  train::require_split(dataset.info(), dataset.file(), recipe.data.test_split);
  if (!recipe.model.weights.empty()) {
    job.weights = std::make_shared<const run::InitialWeights>(
        run::take_weights(run::load_models(recipe.model.weights), job.model.graph, recipe.model.weights));
  }
  job.name = recipe.name;
  job.engine = engine_options(recipe, threads);
  job.engine.loss = job.model.loss;
  job.optimizer = optim::make_optimizer(recipe.train.optimizer);
  job.schedule = optim::make_schedule(recipe.train.schedule);
  job.learning_rate = recipe.learning_rate();
  job.stages = recipe.train.stages;
  for (train::Stage& stage : job.stages) {  // by the linear scaling rule, as the base rate
    stage.learning_rate *= recipe.learning_rate() / recipe.train.learning_rate;
  }
  job.cache_features = recipe.model.cache_features;
  job.cache_bytes = static_cast<std::size_t>(recipe.run.cache_mib) << 20;
  job.epochs = recipe.train.epochs;
  job.shuffle = recipe.data.shuffle_of(dataset.info().sample_shape.elements() *
                                       static_cast<std::int64_t>(data::size_of(dataset.info().sample_type)));
  job.sampling = recipe.data.sampling;
  if (recipe.augment != data::AugmentOptions{}) {
    job.augmenter = std::make_shared<const data::Augmenter>(recipe.augment, dataset.info().sample_shape,
                                                            dataset.info().sample_type);
  }
  job.validation_split = recipe.data.validation_split;
  job.portion = recipe.data.portion;
  job.validate_every = recipe.train.validate_every;
  job.early_stopping = train::EarlyStopping::read(recipe.train.early_stopping);
  job.top_k = recipe.train.top_k;
  job.keep_best = recipe.run.keep_best;
  job.log = recipe.log;
  job.memory_bytes = static_cast<std::uint64_t>(recipe.run.memory_mib) << 20;
  job.checkpoint_every = recipe.run.checkpoint_every;
  job.keep_checkpoints = recipe.run.keep_checkpoints;
  job.ensemble = recipe.train.mode == "ensemble";
  if (job.ensemble) {
    job.members = recipe.ensemble.members > 0 ? recipe.ensemble.members : ranks;
    job.shards = recipe.ensemble.shards;
    job.shards_name = recipe::to_string(recipe.ensemble.shards);
    job.rule = recipe.ensemble.rule;
  }
  job.mathematics = mathematics_of(recipe, job, dataset.info().content_hash);
  job.recipe = recipe.to_toml();
  return job;
}

}  // namespace convoke::app
