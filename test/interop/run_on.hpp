#pragma once
#include <span>

#include "convoke/engine/canonical.hpp"
#include "convoke/hdf5/file.hpp"
#include "experiment.hpp"

/// Runs a network with canonical `parameters` on /samples of a file: float32 (N, ...), or int32 (N, L) of
/// tokens. In training, with /labels int32 (N).
inline Outcome run_on(const convoke::nn::Graph& graph, std::span<const float> parameters,
                      const convoke::hdf5::Group& file, bool training = false) {
  using namespace convoke;
  const hdf5::Dataset samples = file.dataset("samples");
  const std::int64_t count = samples.shape()[0];
  Experiment experiment(graph, {.micro_batch = count, .training = training});
  engine::pack(engine::canonical_parameters(graph), *experiment.layout, parameters,
               experiment.parameters.span());
  Batch batch(graph, count);
  if (samples.type() == hdf5::ElementType::kInt32) {
    batch.tokens = file.read<std::int32_t>("samples");
  } else {
    batch.input = file.read<float>("samples");
  }
  if (training) batch.labels = file.read<std::int32_t>("labels");
  return experiment.run(batch);
}
