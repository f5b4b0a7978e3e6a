#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "convoke/core/random.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/train/job.hpp"
#include "support/files.hpp"

// A model and a dataset that train in milliseconds.
namespace tiny {

using convoke::Settings;

/// Returns 8x8 pictures of four classes as uint8: one quadrant is brighter, with noise. `count`: their
/// number.
struct Pictures {
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;

  explicit Pictures(std::size_t count, std::uint64_t seed = 7) {
    for (std::uint32_t i = 0; i < count; ++i) {
      convoke::RandomStream random({seed, convoke::Purpose::kBench, 0, i});
      const auto label = static_cast<std::int32_t>(random.below(4));
      labels.push_back(label);
      for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) {
          const bool bright = (y / 4) * 2 + x / 4 == label;
          samples.push_back(static_cast<std::uint8_t>(random.below(120) + (bright ? 100 : 0)));
        }
      }
    }
  }
  convoke::data::Split split() const { return {samples, labels}; }
  convoke::data::BatchLoader loader(
      std::shared_ptr<const convoke::data::Augmenter> augmenter = nullptr) const {
    return {split(), convoke::Shape{1, 8, 8}, convoke::data::Normalization{{1.0F / 255}, {0}},
            std::move(augmenter)};
  }
  std::vector<std::uint32_t> ids() const {
    std::vector<std::uint32_t> all(labels.size());
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
};

/// Convolution, batch norm, pooling, dropout, dense: has a statistic, a mask and every kind of parameter.
inline convoke::nn::Graph graph(bool softmax = true) {
  std::vector<Settings> layers{{{"layer", "conv2d"}, {"filters", 8}, {"kernel", 3}},
                               {{"layer", "batch_norm"}},
                               {{"layer", "relu"}},
                               {{"layer", "max_pool"}, {"size", 2}},
                               {{"layer", "flatten"}},
                               {{"layer", "dropout"}, {"rate", 0.2}},
                               {{"layer", "dense"}, {"units", 4}}};
  if (softmax) layers.back().set("activation", "softmax");
  return convoke::nn::build_graph(convoke::Shape{1, 8, 8}, layers);
}

inline convoke::run::ModelDescription description() {
  return {.graph = graph(), .normalization = {{1.0F / 255}, {0}}, .class_names = {"a", "b", "c", "d"}};
}

inline convoke::train::Job job(convoke::engine::Reduction reduction = convoke::engine::Reduction::kExact) {
  convoke::train::Job job(description());
  job.name = "tiny";
  job.engine.batch = 32;
  job.engine.micro_batch = 8;
  job.engine.seed = 3;
  job.engine.reduction = reduction;
  job.loop.optimizer = convoke::optim::make_optimizer({{"name", "adam"}});
  job.loop.schedule = convoke::optim::make_schedule({});
  job.loop.learning_rate = 0.01;
  job.loop.epochs = 2;
  job.fingerprint = {{"train.batch", "32"}, {"seed", "3"}};
  job.recipe = "name = \"tiny\"\n";
  return job;
}

/// The same for an ensemble.
inline convoke::train::Job ensemble_job(
    std::int64_t members, convoke::data::Sharding shards,
    convoke::engine::Reduction reduction = convoke::engine::Reduction::kExact) {
  convoke::train::Job ensemble = job(reduction);
  ensemble.is_ensemble = true;
  ensemble.ensemble.members = members;
  ensemble.ensemble.shards = shards;
  return ensemble;
}

/// Returns the values of a node from canonical parameters.
inline std::vector<float> of_node(const convoke::nn::Graph& network, const std::string& name,
                                  const std::vector<float>& canonical) {
  std::vector<float> values;
  for (const auto& parameter : convoke::engine::canonical_parameters(network)) {
    if (!parameter.name.starts_with(name + ".")) continue;
    const auto at = canonical.begin() + static_cast<std::ptrdiff_t>(parameter.offset);
    values.insert(values.end(), at, at + static_cast<std::ptrdiff_t>(parameter.size()));
  }
  return values;
}

/// Returns canonical parameters of graph() that are arbitrary but all different.
inline std::vector<float> parameters(std::uint64_t seed = 1) {
  const convoke::nn::ParameterLayout layout(graph(), 8);
  const auto arena = convoke::nn::initial_parameters(layout, seed);
  return unpack(convoke::engine::canonical_parameters(graph()), layout, arena.span());
}

}  // namespace tiny
