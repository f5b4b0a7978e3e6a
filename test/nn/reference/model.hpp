#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"

/// A reference for every layer: naive loops in double over plain (N, C, H, W), slow and unfused. It shares
/// only the graph with src/nn.
namespace reference {

using convoke::Settings;
using convoke::Shape;
using convoke::nn::Graph;
using convoke::nn::Node;
using convoke::nn::StepKey;

/// A batch of values in plain order.
struct Values {
  std::int64_t samples = 0;
  Shape shape;  ///< shape of one sample
  std::vector<double> data;

  Values() = default;
  Values(std::int64_t n, Shape s)
      : samples(n), shape(std::move(s)), data(static_cast<std::size_t>(n * shape.elements())) {}
  double& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return data[static_cast<std::size_t>(i)]; }
  std::int64_t channels() const { return shape[0]; }
  std::int64_t pixels() const { return shape.elements() / shape[0]; }
  std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
};

/// Canonical values by "node.parameter".
using Parameters = std::map<std::string, std::vector<double>>;

struct Call;

/// Executes a graph node by node.
class Model {
 public:
  /// `micro_batch`: samples of a batch-norm group (micro-batch).
  Model(const Graph& graph, std::int64_t micro_batch) : graph_(graph), micro_batch_(micro_batch) {}

  Parameters parameters;

  /// Returns the output; logits in training.
  const Values& forward(const Values& x, bool training, const StepKey& key = {});
  /// Returns the sum of -log softmax(logits)[label] after a training forward.
  double loss(std::span<const std::int32_t> labels) const;
  /// Returns the gradients of loss / batch after a training forward; for statistics, the sum over
  /// micro-batches of value * micro_batch / batch.
  Parameters backward(std::span<const std::int32_t> labels, std::int64_t batch);

 private:
  const Node& head() const;
  void backward(const Node& node);
  Call call(const Node& node) const;

  const Graph& graph_;
  std::int64_t micro_batch_;
  bool training_ = true;
  StepKey key_;
  std::int64_t batch_ = 0;
  std::vector<Values> values_, gradients_;  ///< by node
  Parameters results_;                      ///< gradients of parameters
};

}  // namespace reference
