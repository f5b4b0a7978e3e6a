#include "convoke/nn/inference_graph.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_table.hpp"

namespace convoke::nn {
namespace {

/// True for layers that change their input in training alone.
bool only_trains(const Graph& graph, const Node& node) {
  return node.layer->traits().draws_random && graph.owner(node).parameters.empty();
}

/// Finds the batch norms to fold: entry i is the norm that is folded into node i, or null. Neither of the two
/// may share its parameters.
std::vector<const Node*> find_norms(const Graph& graph) {
  const std::size_t count = graph.nodes().size();
  std::vector<const Node*> reader(count), norms(count);
  std::vector<int> readers(count);
  for (const Node& node : graph.nodes()) {
    for (const std::size_t from : node.inputs) {
      reader[from] = &node;
      ++readers[from];
    }
  }
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr || readers[node.index] != 1 || graph.shares(node)) continue;
    const Node& norm = *reader[node.index];
    const bool linear = !node.layer->traits().linear_weight.empty();
    if (linear && norm.layer->traits().norm_epsilon && !graph.shares(norm)) norms[node.index] = &norm;
  }
  return norms;
}

LayerPtr with_bias(const Layer& layer) {
  Settings settings = layer.settings();
  settings.set("bias", true);
  return make_layer(settings);
}

}  // namespace

InferenceGraph::InferenceGraph(const Graph& trained) : graph_(trained.input_shape()) {
  const std::vector<const Node*> norms = find_norms(trained);
  std::vector<std::size_t> offsets, place(trained.nodes().size());  // place: number of the node in graph()
  std::vector<bool> folded(place.size());
  for (const Node& node : trained.nodes()) {
    offsets.push_back(trained_size_);
    for (const ParameterSpec& spec : node.parameters)
      trained_size_ += static_cast<std::size_t>(spec.shape.elements());
  }
  for (const Node& node : trained.nodes()) {
    if (node.layer == nullptr) continue;
    if (folded[node.index] || only_trains(trained, node)) {
      place[node.index] = place[node.inputs[0]];
      continue;
    }
    std::vector<std::size_t> inputs;
    for (const std::size_t from : node.inputs) inputs.push_back(place[from]);
    if (node.parameters_of != node.index) {
      place[node.index] = graph_.share(place[node.parameters_of], std::move(inputs), node.name);
      continue;
    }
    const Node* const norm = norms[node.index];
    place[node.index] =
        graph_.add(norm == nullptr ? node.layer : with_bias(*node.layer), std::move(inputs), node.name);
    if (norm != nullptr) folded[norm->index] = true;
    add_parameters(trained, node, norm, offsets);
  }
}

void InferenceGraph::add_parameters(const Graph& trained, const Node& node, const Node* norm,
                                    const std::vector<std::size_t>& offsets) {
  const auto find = [&](const Node& owner, std::string_view name) -> std::optional<Place> {
    std::size_t offset = offsets[owner.index];
    for (const ParameterSpec& spec : owner.parameters) {
      const auto size = static_cast<std::size_t>(spec.shape.elements());
      if (spec.name == name) return Place{offset, size};
      offset += size;
    }
    return std::nullopt;
  };
  Norm statistics;
  if (norm != nullptr) {
    const Node& owner = trained.owner(*norm);
    statistics = {*norm->layer->traits().norm_epsilon, find(owner, "gamma"), find(owner, "beta"),
                  *find(owner, "running_mean"), *find(owner, "running_variance")};
  }
  for (const ParameterSpec& spec : graph_.nodes().back().parameters) {
    Parameter parameter;
    parameter.size = static_cast<std::size_t>(spec.shape.elements());
    parameter.from = find(node, spec.name);
    if (norm != nullptr) {
      if (spec.name == node.layer->traits().linear_weight) parameter.role = Parameter::Role::kWeight;
      if (spec.name == "bias") parameter.role = Parameter::Role::kBias;
      parameter.norm = statistics;
    }
    parameters_.push_back(parameter);
  }
}

std::vector<float> InferenceGraph::parameters(std::span<const float> trained) const {
  if (trained.size() != trained_size_) {
    throw Error(fmt::format("the model has {} parameters, but {} values are given for them", trained_size_,
                            trained.size()));
  }
  std::vector<float> values;
  for (const Parameter& parameter : parameters_) {
    const std::size_t begin = values.size();
    if (parameter.from) {
      const auto from = trained.subspan(parameter.from->offset, parameter.from->size);
      values.insert(values.end(), from.begin(), from.end());
    } else {
      values.resize(begin + parameter.size);
    }
    if (parameter.role == Parameter::Role::kCopied) continue;
    const Norm& norm = parameter.norm;
    const std::size_t outputs = norm.mean.size, each = parameter.size / outputs;
    const auto of_norm = [&](const Place& place, std::size_t output) {
      return static_cast<double>(trained[place.offset + output]);
    };
    for (std::size_t o = 0; o < outputs; ++o) {
      const double gamma = norm.gamma ? of_norm(*norm.gamma, o) : 1;
      const double scale = gamma / std::sqrt(of_norm(norm.variance, o) + norm.epsilon);
      const bool bias = parameter.role == Parameter::Role::kBias;
      const double shift = bias && norm.beta ? of_norm(*norm.beta, o) : 0;
      const double mean = bias ? of_norm(norm.mean, o) : 0;
      for (std::size_t i = begin + o * each; i < begin + (o + 1) * each; ++i)
        values[i] = static_cast<float>((values[i] - mean) * scale + shift);
    }
  }
  return values;
}

}  // namespace convoke::nn
