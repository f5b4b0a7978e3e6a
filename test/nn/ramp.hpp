#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "experiment.hpp"

// Comparisons with Keras or PyTorch for inputs that both sides can make: multiples of 1/4, so that sums are
// exact.

/// Returns numpy's ((arange(n) * 7 % 11) - 5) / 4.
inline std::vector<float> ramp(std::int64_t n) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 7 % 11 - 5) / 4);
  return values;
}

/// Returns the output of a graph (which ends in a vector) for one sample, a ramp, with these parameters:
/// canonical values by "node.parameter".
inline std::vector<double> output_for_ramp(const convoke::nn::Graph& graph,
                                           const std::map<std::string, std::vector<float>>& parameters = {}) {
  Experiment experiment(graph, {.micro_batch = 1, .training = false});
  // A plan needs bound parameters even if it has none.
  convoke::AlignedBuffer<float> none(1);
  if (experiment.layout->size() == 0) experiment.network.bind(none.data(), nullptr);
  for (const auto& [name, values] : parameters) {
    experiment.layout->pack(experiment.layout->slot(name), values, experiment.parameters.span());
  }
  experiment.working.refresh();
  const std::vector<float> x = ramp(graph.input_shape().elements());
  std::copy(x.begin(), x.end(), experiment.network.input().begin());
  experiment.network.forward();
  return {experiment.network.output().begin(), experiment.network.output().end()};
}
