#include "reference/model.hpp"

#include <algorithm>
#include <cmath>

#include "reference/layer.hpp"

namespace reference {
namespace {

/// Returns the softmax of row n.
std::vector<double> softmax(const Values& x, std::int64_t n) {
  const std::int64_t k = x.shape.elements();
  std::vector<double> y(x.data.begin() + n * k, x.data.begin() + (n + 1) * k);
  const double largest = *std::max_element(y.begin(), y.end());
  double sum = 0;
  for (double& value : y) sum += value = std::exp(value - largest);
  for (double& value : y) value /= sum;
  return y;
}

}  // namespace

const Node& Model::head() const {
  const Node& last = graph_.nodes().back();
  const bool part_of_loss = training_ && last.layer->type() == "softmax" && last.shape.rank() == 1;
  return part_of_loss ? graph_.node(last.inputs[0]) : last;
}

const Values& Model::forward(const Values& x, bool training, const StepKey& key) {
  training_ = training;
  key_ = key;
  values_.assign(graph_.nodes().size(), {});
  values_[0] = x;
  for (const Node& node : graph_.nodes()) {
    if (node.layer != nullptr)
      values_[node.index] = reference::forward(layer_of(node.layer->type()), call(node));
  }
  return values_[head().index];
}

double Model::loss(std::span<const std::int32_t> labels) const {
  const Values& logits = values_[head().index];
  double sum = 0;
  for (std::int64_t n = 0; n < logits.samples; ++n) {
    sum -= std::log(softmax(logits, n)[static_cast<std::size_t>(labels[static_cast<std::size_t>(n)])]);
  }
  return sum;
}

Parameters Model::backward(std::span<const std::int32_t> labels, std::int64_t batch) {
  batch_ = batch;
  results_.clear();
  for (const auto& [name, value] : parameters) results_[name].assign(value.size(), 0);
  gradients_.clear();
  for (const Values& value : values_) gradients_.emplace_back(value.samples, value.shape);
  Values& start = gradients_[head().index];
  for (std::int64_t n = 0; n < start.samples; ++n) {
    const std::vector<double> y = softmax(values_[head().index], n);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const bool label = static_cast<std::int32_t>(k) == labels[static_cast<std::size_t>(n)];
      start[n * start.shape.elements() + static_cast<std::int64_t>(k)] =
          (y[k] - (label ? 1 : 0)) / static_cast<double>(batch);
    }
  }
  for (std::size_t i = head().index; i > 0; --i) backward(graph_.node(i));
  for (const Node& node : graph_.nodes()) {
    for (const auto& spec : node.parameters) {
      if (spec.frozen) results_.erase(node.name + "." + spec.name);
    }
  }
  return std::move(results_);
}

Call Model::call(const Node& node) const {
  Call call{graph_, node, node.layer->settings(), micro_batch_, batch_, training_, key_, {}, {}};
  for (const std::size_t from : node.inputs) call.inputs.push_back(values_[from]);
  for (const auto& spec : graph_.owner(node).parameters)
    call.parameters[spec.name] = parameters.at(graph_.owner(node).name + "." + spec.name);
  return call;
}

void Model::backward(const Node& node) {
  Call arguments = call(node);
  Gradients gradients{gradients_[node.index], {}, {}};
  for (const std::size_t from : node.inputs) gradients.inputs.push_back(&gradients_[from]);
  for (const auto& [name, values] : arguments.parameters)
    gradients.parameters[name] = &results_.at(graph_.owner(node).name + "." + name);
  reference::backward(layer_of(node.layer->type()), arguments, gradients);
}

}  // namespace reference
