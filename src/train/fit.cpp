#include "convoke/train/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"

namespace convoke::train {

std::optional<std::int64_t> least_vocabulary(const nn::Graph& graph) {
  std::optional<std::int64_t> least;
  for (const nn::Node& node : graph.nodes()) {
    const std::int64_t tokens = node.layer == nullptr ? 0 : node.layer->traits().vocabulary;
    if (tokens > 0) least = std::min(least.value_or(tokens), tokens);
  }
  return least;
}

void require_fit(const run::ModelDescription& model, const std::string& model_name,
                 const data::DatasetInfo& dataset, const std::filesystem::path& dataset_file) {
  const bool tokens = dataset.sample_type == data::SampleType::kInt32;
  if (tokens != (model.graph.input_shape().type == nn::ValueType::kToken)) {
    throw Error(fmt::format("{} has {}, but the model of {} takes {}", dataset_file.string(),
                            tokens ? "tokens (int32)"
                                   : fmt::format("numbers ({})", data::name_of(dataset.sample_type)),
                            model_name, tokens ? "numbers" : "tokens"),
                tokens ? "begin the model with an embedding, or store the samples as float32"
                       : "store tokens as int32, or remove the embedding from the model");
  }
  if (model.graph.input_shape() != dataset.sample_shape) {
    throw Error(
        fmt::format("{} has samples of shape {}, but the model of {} takes {}", dataset_file.string(),
                    dataset.sample_shape.to_string(), model_name, model.graph.input_shape().to_string()),
        "pass the dataset that belongs to the model, or change model.input and prepare the data in the same "
        "way");
  }
  if (model.float_images && dataset.sample_type == data::SampleType::kUint8) {
    throw Error(fmt::format("{} has images of 0..255 (uint8), but the model of {} was trained on images of "
                            "measured numbers (float32)",
                            dataset_file.string(), model_name),
                "pass a dataset in the units of the training samples");
  }
  const std::int64_t outputs = model.graph.output_shape().elements();
  if (model.loss->fits(outputs, dataset.classes)) return;
  const std::int64_t weights = std::ssize(list_at(model.loss->settings(), "class_weights"));
  if (weights > 0 && weights != dataset.classes && (outputs == dataset.classes || outputs == 1)) {
    throw Error(fmt::format("{} has {} classes, but the loss of {} has {}", dataset_file.string(),
                            dataset.classes, model_name, counted(weights, "class weight")),
                "list one weight for each class, in the order of the classes, or leave class_weights out");
  }
  throw Error(fmt::format("{} has {} classes, but the model of {} predicts {}", dataset_file.string(),
                          dataset.classes, model_name, outputs),
              "pass the dataset that belongs to the model, or change the units of its last layer");
}

std::string require_same_classes(const run::ModelDescription& model, const std::string& model_name,
                                 const data::DatasetInfo& dataset,
                                 const std::filesystem::path& dataset_file) {
  const std::vector<std::string>&theirs = dataset.class_names, &ours = model.class_names;
  if (theirs.empty() || theirs.size() != ours.size()) return {};
  std::vector<std::size_t> differing;
  std::set<std::string> elsewhere;  // names of the model, where the dataset has others
  for (std::size_t c = 0; c < ours.size(); ++c) {
    if (theirs[c] == ours[c]) continue;
    differing.push_back(c);
    elsewhere.insert(ours[c]);
  }
  if (differing.empty()) return {};
  const auto moved =
      std::ranges::find_if(differing, [&](std::size_t c) { return elsewhere.count(theirs[c]) > 0; });
  const std::size_t example = moved == differing.end() ? differing.front() : *moved;
  std::string difference =
      fmt::format("{}: class {} is \"{}\", but in the model of {} it is \"{}\"", dataset_file.string(),
                  example, theirs[example], model_name, ours[example]);
  if (moved == differing.end()) return difference;
  constexpr std::size_t kFew = 20;
  const bool listable = ours.size() <= kFew && std::ranges::is_permutation(theirs, ours) &&
                        join(ours, "").find(',') == std::string::npos;
  throw Error(difference,
              listable
                  ? fmt::format("if its source names the classes, prepare it again with --class-names {}; if "
                                "its labels are numbers, number them as the model does",
                                shell_word(join(ours, ",")))
                  : "prepare it again, with the classes in the order of the model");
}

void require_split(const data::DatasetInfo& training, const std::filesystem::path& dataset_file,
                   const std::string& split) {
  const data::DatasetInfo info = data::inspect(dataset_file, {split});
  if (info.sample_type == training.sample_type && info.sample_shape == training.sample_shape) return;
  throw Error(fmt::format("{}: split \"{}\" has {} samples of shape {}, but the training split {} of {}",
                          dataset_file.string(), split, data::name_of(info.sample_type),
                          info.sample_shape.to_string(), data::name_of(training.sample_type),
                          training.sample_shape.to_string()));
}

void require_vocabulary(std::int64_t vocabulary, const std::string& model_name, const data::Dataset& dataset,
                        const std::string& split) {
  const std::int64_t largest = dataset.split(split).largest_token;
  if (largest < vocabulary) return;
  throw Error(fmt::format("{}: split \"{}\" has token {}, but the embedding of {} has rows 0..{}",
                          dataset.file().string(), split, largest, model_name, vocabulary - 1),
              fmt::format("set its vocabulary to {} or more, or map rare tokens to one number",
                          std::max(largest + 1, dataset.info().vocabulary)));
}

void require_vocabulary(const nn::Graph& graph, const std::string& model_name, const data::Dataset& dataset,
                        const std::string& split) {
  if (const auto least = least_vocabulary(graph)) require_vocabulary(*least, model_name, dataset, split);
}

void require_vocabulary(const nn::Graph& graph, const std::string& model_name, const data::DatasetInfo& info,
                        const std::filesystem::path& dataset_file, const std::string& split) {
  const auto least = least_vocabulary(graph);
  const bool stated = info.vocabulary > 0;  // a file with tokens beyond its vocabulary cannot be opened
  if (!least || (stated && info.vocabulary <= *least)) return;
  require_vocabulary(*least, model_name, data::Dataset::open(dataset_file, {split}, data::private_storage(0)),
                     split);
}

namespace {

/// A batch norm with one value per channel in a sample, and the samples that its statistics cover.
struct SingleValueNorm {
  const nn::Node* node = nullptr;
  bool synchronized = false;  // statistics over all samples of an engine's step, not over a micro-batch
};

std::int64_t values_per_channel(const Shape& shape) {
  if (shape.rank() == 1) return 1;
  return shape.rank() == 2 ? shape[0] : shape.elements() / shape[0];  // (L, C) or (C, H, W)
}

bool is_set(const Settings& settings, std::string_view key) {
  const Value* value = settings.find(key);
  return value != nullptr && *value == Value(true);
}

bool computes_statistics(const nn::Graph& graph, const nn::Node& node) {
  const nn::Node& owner = graph.owner(node);
  return owner.options.trainable && !is_set(node.layer->settings(), "frozen") &&
         std::ranges::any_of(owner.parameters, &nn::ParameterSpec::statistic);
}

std::vector<SingleValueNorm> single_value_batch_norms(const nn::Graph& graph) {
  std::vector<SingleValueNorm> list;
  for (const nn::Node& node : graph.nodes()) {
    if (node.layer == nullptr || !computes_statistics(graph, node)) continue;
    if (values_per_channel(node.shape) == 1) list.push_back({&node, node.layer->traits().synchronizes});
  }
  return list;
}

// True if cutting `samples` into pieces of `size` leaves one sample alone.
bool leaves_one(std::int64_t samples, std::int64_t size) { return size == 1 || samples % size == 1; }

// A micro-batch divides the batch, so the rest at the end of an epoch is the same for every batch.
std::string micro_batches_that_do(const engine::EngineOptions& engine, std::int64_t samples) {
  std::vector<std::string> micro_batches;
  for (std::int64_t micro_batch = 2; micro_batch <= engine.batch; ++micro_batch) {
    if (engine.batch % micro_batch == 0 && !leaves_one(samples, micro_batch))
      micro_batches.push_back(std::to_string(micro_batch));
  }
  return join(micro_batches);
}

// Returns the samples of the first step in which one of several ranks has a share of one sample; 0: in none.
std::int64_t step_with_a_share_of_one(const engine::EngineOptions& engine, std::int64_t samples, int ranks) {
  const engine::MicroBatchShares shares(ranks);
  const std::int64_t full = samples >= engine.batch ? engine.batch : 0;
  for (const std::int64_t step : {full, samples % engine.batch}) {
    for (int rank = 0; rank < ranks; ++rank) {
      if (shares.samples(step, engine.micro_batch, rank).count == 1) return step;
    }
  }
  return 0;
}

}  // namespace

std::string single_value_batch_norm(const nn::Graph& graph) {
  const std::vector<SingleValueNorm> list = single_value_batch_norms(graph);
  return list.empty() ? std::string() : list.front().node->name;
}

void require_batch_statistics(const nn::Graph& graph, const engine::EngineOptions& engine,
                              std::int64_t samples, const std::string& whose, int replicas) {
  const auto refuse = [&](const nn::Node& node, const std::string& where, const std::string& hint) {
    throw Error(
        fmt::format("{}: node {} has one value per channel in a sample, {}, so its variance is undefined: {}",
                    whose, node.name, node.shape.to_string(), where),
        hint);
  };
  for (const auto& [node, synchronized] : single_value_batch_norms(graph)) {
    if (synchronized && replicas > 1) {
      const std::int64_t step = step_with_a_share_of_one(engine, samples, replicas);
      if (step == 0) continue;
      refuse(*node,
             fmt::format("each of {} ranks trains a model on its share of the batch, which is one sample for "
                         "a rank in a step of {}",
                         replicas, counted(step, "sample")),
             "choose another train.batch, train.micro_batch or number of ranks, or use train.strategy = "
             "\"allreduce\"");
    }
    const std::int64_t size = synchronized ? engine.batch : engine.micro_batch;
    if (!leaves_one(samples, size)) continue;
    const std::string what = synchronized ? "batch" : "micro-batch";
    const std::string where =
        size == 1 ? fmt::format("a {} is one sample", what)
                  : fmt::format("the last {} of an epoch is one sample: {} training samples in {} of {}",
                                what, samples, synchronized ? "batches" : "micro-batches", size);
    const std::string micro_batches = synchronized ? std::string() : micro_batches_that_do(engine, samples);
    refuse(*node, where,
           micro_batches.empty()
               ? "choose another train.batch, or use one sample more or less (data.validation_split)"
               : fmt::format("set train.micro_batch to {}; or freeze the node", micro_batches));
  }
}

}  // namespace convoke::train
