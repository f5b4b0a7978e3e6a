#include "convoke/recipe/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/losses/loss.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/run/initial_weights.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/train/fit.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

// Returns the values of a key, without those equal to the behavior of runs that are older than the key.
void add_key(const std::string& path, const KeyDescription& key, const Value& value, run::Fingerprint& kept) {
  run::Fingerprint defaults;
  if (key.effect == Effect::kNewResult) defaults = flattened({{path, parse_value(key.fallback, "")}});
  for (auto& entry : flattened({{path, value}})) {
    if (std::find(defaults.begin(), defaults.end(), entry) == defaults.end())
      kept.push_back(std::move(entry));
  }
}

// True if a resumed run must have the same value: of the epochs if the learning rate depends on their number,
// of the cached views if they differ.
bool decides(const std::string& path, const KeyDescription& key, const train::Job& job) {
  if (path == "train.epochs") return job.loop.schedule->spans_training();
  if (path == "model.cache_features") return job.augmenter != nullptr;
  return key.effect != Effect::kNone;
}

run::Fingerprint fingerprint_of(const Recipe& recipe, const train::Job& job,
                                const std::string& content_hash) {
  run::Fingerprint kept;
  for (const Section& section : sections()) {
    if (section.name == "augment" && job.augmenter == nullptr) continue;
    if (section.name == "ensemble" && !job.is_ensemble) continue;
    const Settings values = section.write(recipe);
    for (const KeyDescription& key : section.keys()) {
      const std::string path = section.path(key.name);
      const Value* const value = values.find(key.name);
      if (value != nullptr && decides(path, key, job)) add_key(path, key, *value, kept);
    }
  }
  // The values that the recipe leaves to be derived.
  for (auto& [key, value] : kept) {
    if (key == "train.micro_batch") value = std::to_string(job.engine.micro_batch);
    if (key == "ensemble.members") value = std::to_string(job.ensemble.members);
  }
  kept.emplace_back("data.content_hash", content_hash);
  // Older checkpoints were trained on samples that are now held out.
  if (job.ensemble.shards == data::Sharding::kBootstrap && job.samples.validation_split > 0) {
    kept.emplace_back("data.held_out", "before the bootstrap draws");
  }
  // In older checkpoints, all uses of a sample in an epoch had the same dropout and noise.
  const bool repeats =
      job.ensemble.shards == data::Sharding::kBootstrap || job.samples.sampling == data::Sampling::kBalanced;
  const auto draws = [](const nn::Node& node) { return node.layer && node.layer->traits().draws_random; };
  if (repeats && std::ranges::any_of(job.model.graph.nodes(), draws)) {
    kept.emplace_back("train.dropout", "of each use of a sample");
  }
  return kept;
}

// Returns the loss, with class weights from the class counts of the training split if the recipe asks for
// them.
nn::LossPtr loss_of(const Recipe& recipe, const data::Dataset& dataset) {
  if (!recipe.train.balance_classes) return recipe.train.loss;
  const std::vector<double> weights =
      data::balanced_class_weights(dataset.split(recipe.data.train_split).labels, dataset.info().classes);
  Settings loss = recipe.train.loss->settings();
  loss.set("class_weights", Value::Array(weights.begin(), weights.end()));
  return nn::make_loss(loss);
}

// Makes the job learn from a teacher, if the recipe names one.
void distill(const Recipe& recipe, train::Job& job) {
  if (job.loop.distill.teacher.empty()) return;
  if (job.model.loss->activation() != "softmax") {
    throw Error(fmt::format("train.distill teaches probabilities of softmax, but train.loss is \"{}\"",
                            text_at(job.model.loss->settings(), "name")),
                "use train.loss = { name = \"softmax_cross_entropy\" }, or leave train.distill out");
  }
  if (recipe.augment.mixes()) {
    throw Error("train.distill knows the teacher's predictions for samples, not for mixtures of them",
                "leave augment.mixup and augment.cutmix out, or train.distill");
  }
  job.engine.loss = nn::distilled(job.model.loss, job.loop.distill.temperature, job.loop.distill.weight);
}

// Returns `place`. Throws Error that names the key if there is no such file.
const std::string& existing(std::string_view key, const std::string& place) {
  namespace fs = std::filesystem;
  if (fs::exists(place) || fs::exists(place + ".index")) return place;  // TensorFlow's, which is refused
  throw Error(fmt::format("{}: {}: no such file", key, place),
              fmt::format("check {}, a path from the folder in which the program runs", key));
}

}  // namespace

engine::EngineOptions engine_options(const Recipe& recipe, int threads) {
  nn::require_precision(recipe.train.step.precision, recipe.train.emulate_bf16);
  engine::EngineOptions options{recipe.train.step, recipe.run.execution, recipe.seed, recipe.train.loss};
  options.micro_batch = recipe.micro_batch();
  options.threads = threads;
  return options;
}

train::Job job_from(const Recipe& recipe, const data::Dataset& dataset, int threads, int ranks) {
  train::Job job({.graph = recipe.graph(),
                  .normalization = data::normalization_from(recipe.data.normalize, dataset.info(),
                                                            dataset.file().string()),
                  .class_names = dataset.info().class_names,
                  .loss = loss_of(recipe, dataset),
                  .class_count = dataset.info().classes,
                  .precision = recipe.train.step.precision,
                  .preparation = dataset.info().preparation,
                  .float_images = dataset.info().sample_type == data::SampleType::kFloat32 &&
                                  dataset.info().sample_shape.rank() == 3});
  train::require_fit(job.model, recipe.name, dataset.info(), dataset.file());
  job.name = recipe.name;
  job.engine = engine_options(recipe, threads);
  job.engine.loss = job.model.loss;
  job.engine.classes = dataset.info().classes;
  job.loop = recipe.train.loop;
  job.loop.learning_rate = recipe.learning_rate();
  for (train::Stage& stage : job.loop.stages) {  // scaled by the linear scaling rule, as the base rate is
    stage.learning_rate *= recipe.learning_rate() / recipe.train.loop.learning_rate;
  }
  distill(recipe, job);
  job.samples = recipe.data.samples;
  job.shuffle = recipe.data.shuffle_of(dataset.info().sample_shape.elements() *
                                       static_cast<std::int64_t>(data::size_of(dataset.info().sample_type)));
  if (recipe.augment.changes_anything()) {
    job.augmenter = std::make_shared<const data::Augmenter>(recipe.augment, dataset.info().sample_shape,
                                                            dataset.info().sample_type);
  }
  job.cache_features = recipe.model.cache_features;
  job.checkpoints = recipe.run.checkpoints;
  job.memory = recipe.run.memory;
  job.log = recipe.log;
  job.is_ensemble = recipe.train.mode == "ensemble";
  if (job.is_ensemble) {
    job.ensemble = recipe.ensemble;
    if (job.ensemble.members == 0) job.ensemble.members = ranks;
  }
  job.fingerprint = fingerprint_of(recipe, job, dataset.info().content_hash);
  Recipe carried_out = recipe;
  if (job.is_ensemble) carried_out.ensemble.members = job.ensemble.members;
  if (!recipe.model.weights.empty()) {
    carried_out.model.weights = std::filesystem::absolute(recipe.model.weights).lexically_normal().string();
  }
  job.recipe = carried_out.to_toml();
  return job;
}

std::shared_ptr<const run::InitialWeights> initial_weights(const Recipe& recipe, const nn::Graph& graph,
                                                           const mpi::Communicator& world) {
  if (recipe.model.weights.empty()) return nullptr;
  return std::make_shared<const run::InitialWeights>(run::weights_from_root(world, [&] {
    return interop::read_weights(existing("model.weights", recipe.model.weights), graph,
                                 {.zoo = recipe.model.zoo, .partial = recipe.model.partial});
  }));
}

std::optional<run::ModelSet> teacher_of(const Recipe& recipe, const data::Dataset& dataset,
                                        const mpi::Communicator& world) {
  const std::string& place = recipe.train.loop.distill.teacher;
  if (place.empty()) return std::nullopt;
  run::ModelSet teacher = run::models_from_root(world, [&] {
    return interop::read_model(interop::find_model(existing("train.distill.teacher", place))).models;
  });
  train::require_fit(teacher.description, place, dataset.info(), dataset.file());
  const std::string other_names =
      train::require_same_classes(teacher.description, place, dataset.info(), dataset.file());
  if (world.root() && !other_names.empty()) fmt::print(stderr, "note: {}\n", other_names);
  train::require_vocabulary(teacher.description.graph, place, dataset, recipe.data.train_split);
  return teacher;
}

std::string normalization_note(const Recipe& recipe, const train::Job& job) {
  if (job.weights == nullptr) return {};
  const data::Normalization& theirs = job.weights->normalization;
  if (!theirs.scale.empty()) {
    if (theirs == job.model.normalization) return {};
    return fmt::format("the model in {} takes samples normalized in another way than data.normalize = \"{}\"",
                       recipe.model.weights, recipe.data.normalize);
  }
  if (recipe.model.zoo.empty()) return {};
  const std::string expected = nn::zoo_normalization(recipe.model.zoo);
  if (expected.empty() || expected == recipe.data.normalize) return {};
  return fmt::format("published weights of {} expect data.normalize = \"{}\", but it is \"{}\"",
                     recipe.model.zoo, expected, recipe.data.normalize);
}

std::string frozen_note(const train::Job& job) {
  std::vector<std::string> names;
  std::size_t parameter = 0;  // in the order of engine::canonical_parameters()
  const nn::Graph graph = train::graph_in_epoch(job, job.loop.epochs);  // stages may unfreeze layers
  if (job.loop.epochs > 0 && graph.trainable_count() == 0) return "no layer is trained: all are frozen";
  for (const nn::Node& node : graph.nodes()) {
    bool random = false;
    for (const nn::ParameterSpec& spec : node.parameters) {
      const bool given = job.weights != nullptr && job.weights->given[parameter];
      const bool constant =
          spec.initializer == nn::Initializer::kZeros || spec.initializer == nn::Initializer::kOnes;
      random = random || (spec.frozen && !given && !constant);
      ++parameter;
    }
    if (random) names.push_back(node.name);
  }
  constexpr std::size_t kShown = 6;
  return names.empty() ? "" : "frozen layers keep random initial weights: " + listing(names, kShown);
}

}  // namespace convoke::recipe
