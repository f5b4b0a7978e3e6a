#pragma once
#include "convoke/nn/layers/reshape.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

/// Returns the output of the graph for `input` (plain) in a plan for inference, with these parameters by name
/// and the others at their initial values. For comparison with stored values of other frameworks.
inline std::vector<double> evaluate(const convoke::nn::Graph& graph, const std::vector<double>& input,
                                    const std::map<std::string, std::vector<double>>& parameters = {}) {
  const std::int64_t samples = static_cast<std::int64_t>(input.size()) / graph.input_shape().elements();
  Experiment experiment(graph, {.micro_batch = samples, .training = false});
  const convoke::AlignedBuffer<float> start = initial_parameters(*experiment.layout, 1);
  std::copy_n(start.data(), start.size(), experiment.parameters.data());
  for (const auto& [name, given] : parameters) experiment.set(name, {given.begin(), given.end()});
  const float none = 0;
  if (start.size() == 0) experiment.network.bind(&none, nullptr);
  Batch batch(graph, samples);
  REQUIRE(batch.input.size() == input.size());
  std::copy(input.begin(), input.end(), batch.input.begin());
  return experiment.run(batch).output;
}

/// Returns numpy's ((arange(n) * 7 % 11) - 5) / 4: multiples of 1/4, so that sums are exact.
inline std::vector<double> ramp(std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i * 7 % 11 - 5) / 4);
  return values;
}

/// Returns the output for one sample, a ramp, with these parameters.
inline std::vector<double> output_for_ramp(
    const convoke::nn::Graph& graph, const std::map<std::string, std::vector<double>>& parameters = {}) {
  return evaluate(graph, ramp(graph.input_shape().elements()), parameters);
}

/// ((i * 37) % 101) / 25 - 2 for i = 0, 1, ...: in Python,
///     fill = lambda *s: (((np.arange(int(np.prod(s))) * 37) % 101) / 25 - 2).astype("f").reshape(s)
inline std::vector<double> golden_fill(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(i * 37 % 101 / 25.0 - 2);
  return values;
}

/// shift + scale 0.4 sin(1.7 i + k) for i = 0, 1, ...
inline std::vector<float> waves(int k, std::int64_t count, double shift = 0, double scale = 1) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(shift + scale * 0.4 * std::sin(1.7 * static_cast<double>(i) + k)));
  return values;
}

/// Gives the parameters of a convolution, a batch norm and a dense layer the waves 1 to 8.
inline void set_waves(Experiment& experiment) {
  const std::vector<std::string> names{"conv2d_1.weight",
                                       "conv2d_1.bias",
                                       "batch_norm_1.gamma",
                                       "batch_norm_1.beta",
                                       "batch_norm_1.running_mean",
                                       "batch_norm_1.running_variance",
                                       "dense_1.weight",
                                       "dense_1.bias"};
  for (const convoke::nn::ParameterSlot& slot : experiment.layout->slots()) {
    const auto k = std::find(names.begin(), names.end(), slot.name) - names.begin() + 1;
    const bool around_one = slot.name.ends_with("gamma") || slot.name.ends_with("variance");
    experiment.set(slot.name, waves(static_cast<int>(k), slot.spec.shape.elements(), around_one ? 1 : 0));
  }
}

/// Returns statistics after a step: momentum * old + (1 - momentum) * factor * new.
inline std::vector<double> moved(const Experiment& experiment, const Outcome& outcome,
                                 const std::string& name, double factor = 1) {
  const double momentum = experiment.layout->slot(name).spec.momentum;
  std::vector<double> values = by_name(*experiment.layout, experiment.parameters.span()).at(name);
  for (std::size_t c = 0; c < values.size(); ++c)
    values[c] = momentum * values[c] + (1 - momentum) * factor * outcome.gradients.at(name)[c];
  return values;
}

/// Returns the output of layers without parameters for an input of ones.
template <class Body>
std::vector<double> of_ones(const convoke::Shape& shape, const std::vector<std::uint32_t>& ids,
                            const Body& body) {
  convoke::nn::Graph graph(shape);
  flatten(body(convoke::nn::input(graph)));
  const convoke::nn::PlanOptions options{.micro_batch = static_cast<std::int64_t>(ids.size())};
  convoke::nn::Network network(
      graph, std::make_shared<convoke::nn::ParameterLayout>(graph, options.micro_batch), options);
  const float none = 0;
  network.bind(&none, nullptr);
  std::fill(network.input().begin(), network.input().end(), 1.0F);
  network.forward({1, 0, ids});
  return {network.output().begin(), network.output().end()};
}
