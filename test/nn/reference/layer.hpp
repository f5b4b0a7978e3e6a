#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/model.hpp"

// Most layers of the reference have only a forward pass: naive loops in double over plain values. Their
// gradients are central differences of that pass, element by element, so a reference cannot share a mistake
// with the derivative that it checks. Use small shapes: the cost is (elements of a sample and of the
// parameters) x (cost of a forward pass). The layers of larger tests give the products that they add, from
// which both passes follow.

namespace reference {

/// The channels and positions (pixels, steps) of values, and their position in plain order.
struct Axes {
  bool sequence;
  std::int64_t channels, positions;

  explicit Axes(const Shape& shape)
      : sequence(shape.rank() == 2),
        channels(sequence ? shape[1] : shape[0]),
        positions(shape.elements() / channels) {}
  std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t p) const {
    return sequence ? (n * positions + p) * channels + c : (n * channels + c) * positions + p;
  }
  /// Returns the channel of an element.
  std::int64_t channel(std::int64_t i) const { return sequence ? i % channels : i / positions % channels; }
};

/// The arguments of a layer's forward pass.
struct Call {
  const Graph& graph;
  const Node& node;
  const Settings settings;   ///< settings of the layer
  std::int64_t micro_batch;  ///< samples of a batch-norm group
  std::int64_t batch;        ///< samples of the step; known in the backward pass
  bool training;
  const StepKey& key;
  std::vector<Values> inputs;
  Parameters parameters;  ///< by name within the layer: "weight"

  std::uint32_t repeat(std::int64_t sample) const {
    return key.repeats.empty() ? 0 : key.repeats[static_cast<std::size_t>(sample)];
  }
  const Values& x() const { return inputs.front(); }
  const std::vector<double>& parameter(const std::string& name) const { return parameters.at(name); }
  bool has_parameter(const std::string& name) const { return parameters.contains(name); }
  /// Returns a setting of the layer, or `fallback`.
  double number(std::string_view setting, double fallback = 0) const;
  std::string text(std::string_view setting) const;
  /// True if the layer has this setting, and it is true.
  bool flag(std::string_view setting) const;
  /// Returns one or two numbers as [height, width].
  std::pair<std::int64_t, std::int64_t> pair(std::string_view setting) const;
};

/// A summand of an output: y[output] += factor * x[input] * weight[w], where x is input number `from`.
/// Without an input
/// (-1) it is factor * bias[w], without w (-1) factor * x[input].
struct Product {
  std::int64_t output, input, w = -1;
  double factor = 1;
  std::size_t from = 0;
};

/// Where the backward pass of a layer adds its gradients.
struct Gradients {
  const Values& output;  ///< dL/dy
  std::vector<Values*> inputs;
  std::map<std::string, std::vector<double>*> parameters;  ///< by name within the layer
};

/// Takes the products of a layer, one after another (inline, because there are very many). The forward pass
/// adds them to y; the backward pass adds dx += factor w dy and dw += factor x dy.
class AddProduct {
 public:
  AddProduct(const Call& call, Values& y);
  AddProduct(const Call& call, Gradients& gradients);

  void operator()(const Product& p) const {
    const auto w = static_cast<std::size_t>(p.w);
    const double x = p.input < 0 ? 1 : call_.inputs[p.from][p.input];
    if (y_ != nullptr) {
      (*y_)[p.output] += p.factor * x * (p.w < 0 ? 1 : (p.input < 0 ? bias_ : weight_)[w]);
      return;
    }
    const double dy = gradients_->output[p.output] * p.factor;
    if (p.input < 0) {
      dbias_[w] += dy;
      return;
    }
    (*gradients_->inputs[p.from])[p.input] += p.w < 0 ? dy : dy * weight_[w];
    if (p.w >= 0) dweight_[w] += dy * x;
  }

 private:
  const Call& call_;
  Values* y_ = nullptr;             ///< null in the backward pass
  Gradients* gradients_ = nullptr;  ///< null in the forward pass
  const double *weight_, *bias_;    ///< null if the layer has none
  double *dweight_ = nullptr, *dbias_ = nullptr;
};

/// What a layer has: a forward pass or products; and, if central differences are too slow, how they are
/// faster.
struct LayerEntry {
  std::string_view type;
  Values (*forward)(const Call& call) = nullptr;
  void (*products)(const Call& call, const AddProduct& add) = nullptr;
  void (*backward)(const Call& call, Gradients& gradients) = nullptr;
  /// y[i] depends on element i of each input (and on parameters) alone, so one difference serves all elements
  bool element_wise = false;
};

// Families of layers, each with a file in this folder: one line per layer.
std::span<const LayerEntry> convolutions();
std::span<const LayerEntry> normalizations();
std::span<const LayerEntry> pointwise_layers();
std::span<const LayerEntry> poolings();
std::span<const LayerEntry> sequence_layers();
std::span<const LayerEntry> structure_layers();

Values forward(const LayerEntry& layer, const Call& call);

/// Adds dL/dx of the inputs and dL/dw of the parameters.
void backward(const LayerEntry& layer, Call& call, Gradients& gradients);

/// Throws std::logic_error if there is no layer of that type.
const LayerEntry& layer_of(std::string_view type);

}  // namespace reference
