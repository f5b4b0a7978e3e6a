#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "convoke/nn/freeze.hpp"
#include "convoke/train/ensemble.hpp"
#include "support/training.hpp"

// Training jobs on a network with a frozen part.
namespace fine_tuning {

using namespace convoke;
using tiny::alone;
using tiny::Result;
using tiny::train_all;

/// Two convolutions (the first with a batch norm), a hidden layer with dropout, and a head.
inline nn::Graph network(const std::vector<std::string>& frozen) {
  nn::Graph graph = nn::build_graph(Shape{1, 8, 8},
                                    {{{"layer", "conv2d"}, {"filters", 6}, {"kernel", 3}, {"name", "conv1"}},
                                     {{"layer", "batch_norm"}, {"name", "norm1"}},
                                     {{"layer", "relu"}},
                                     {{"layer", "conv2d"}, {"filters", 10}, {"kernel", 3}, {"name", "conv2"}},
                                     {{"layer", "relu"}, {"name", "features"}},
                                     {{"layer", "max_pool"}, {"size", 2}},
                                     {{"layer", "flatten"}},
                                     {{"layer", "dense"}, {"units", 12}, {"name", "hidden"}},
                                     {{"layer", "tanh"}},
                                     {{"layer", "dropout"}, {"rate", 0.3}},
                                     {{"layer", "dense"}, {"units", 4}, {"name", "head"}},
                                     {{"layer", "softmax"}}});
  nn::freeze(graph, frozen);
  return graph;
}

/// tiny::job() on that network.
inline train::Job job(const std::vector<std::string>& frozen, const std::string& optimizer = "adam") {
  train::Job job(
      {.graph = network(frozen), .normalization = {{1.0F / 255}, {0}}, .class_names = {"a", "b", "c", "d"}});
  const train::Job like = tiny::job();
  job.name = "fine-tuning";
  job.engine = like.engine;
  job.loop.optimizer = optim::make_optimizer({{"name", optimizer}});
  job.loop.schedule = like.loop.schedule;
  job.loop.learning_rate = 0.02;
  job.loop.epochs = 4;
  job.fingerprint = like.fingerprint;
  job.recipe = like.recipe;
  return job;
}

/// The values of the node `name` in canonical parameters of network().
inline std::vector<float> of_node(const std::string& name, const std::vector<float>& canonical) {
  return tiny::of_node(network({}), name, canonical);
}

}  // namespace fine_tuning
