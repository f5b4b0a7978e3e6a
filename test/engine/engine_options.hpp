#pragma once
#include <cstdint>

#include "convoke/engine/step_engine.hpp"
#include "convoke/nn/layer_table.hpp"

namespace convoke::engine {

/// Options for steps of 32 samples.
inline EngineOptions options(Reduction reduction, int threads = 1, std::int64_t micro_batch = 4) {
  EngineOptions options;
  options.batch = 32;
  options.micro_batch = micro_batch;
  options.seed = 5;
  options.reduction = reduction;
  options.threads = threads;
  return options;
}

/// Returns a graph for tiny::Pictures. With a synchronized batch norm, a worker runs all its micro-batches at
/// the same time.
inline nn::Graph normalized(bool synchronized) {
  return nn::build_graph(Shape{1, 8, 8}, {{{"layer", "conv2d"}, {"filters", 8}, {"kernel", 3}},
                                          {{"layer", "batch_norm"}, {"synchronized", synchronized}},
                                          {{"layer", "flatten"}},
                                          {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
}

}  // namespace convoke::engine
