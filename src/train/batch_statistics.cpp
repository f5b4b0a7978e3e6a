#include "convoke/train/batch_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::train {
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
