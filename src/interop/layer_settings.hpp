#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/core/shape.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layer_keys.hpp"
#include "convoke/nn/window.hpp"
#include "convoke/run/model_file.hpp"

// Facts about a model that the writers of all formats read.

namespace convoke::interop {

/// The hyper-parameters of a layer by key, with the types of docs/layers.md.
class LayerSettings {
 public:
  explicit LayerSettings(const nn::Layer& layer) : type_(layer.type()), settings_(layer.settings()) {}

  std::string_view type() const { return type_; }
  bool has(std::string_view key) const { return settings_.find(key) != nullptr; }
  std::int64_t integer(std::string_view key) const { return get<std::int64_t>(key); }
  double number(std::string_view key) const { return get<double>(key); }
  bool flag(std::string_view key) const { return has(key) && get<bool>(key); }
  /// Returns "" if the value is no text: padding = 1.
  std::string text(std::string_view key) const {
    return SettingsReader(settings_, type_).holds_text(key) ? get<std::string>(key) : std::string();
  }
  std::vector<std::int64_t> integers(std::string_view key) const {
    return get<std::vector<std::int64_t>>(key);
  }
  std::vector<double> numbers(std::string_view key) const { return get<std::vector<double>>(key); }
  /// Returns an empty list if the key is absent.
  std::vector<std::string> texts(std::string_view key) const {
    return has(key) ? get<std::vector<std::string>>(key) : std::vector<std::string>();
  }
  nn::Extent extent(std::string_view key) const { return get<nn::Extent>(key); }
  nn::Padding padding(std::string_view key) const { return get<nn::Padding>(key); }
  nn::Border border(std::string_view key) const { return get<nn::Border>(key); }
  nn::Padding padding1d(std::string_view key) const {
    SettingsReader read(settings_, type_);
    nn::Padding padding;
    nn::read_sequence_padding(read, {.name = key}, true, padding);
    return padding;
  }

 private:
  template <class T>
  T get(std::string_view key) const {
    SettingsReader read(settings_, type_);
    T value{};
    read_value(read, {.name = key, .required = true}, value);
    return value;
  }

  std::string type_;
  Settings settings_;
};

/// The windows of a convolution or pooling along one axis.
struct WindowAxis {
  std::int64_t input = 0, output = 0;
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  ///< padding, with what `ceil` adds
  std::int64_t beyond = 0;             ///< the part of `after` that `ceil` adds

  std::int64_t span() const { return dilation * (kernel - 1) + 1; }
};

/// The windows along [height, width] of an image, or along [time] of a sequence.
using WindowAxes = std::vector<WindowAxis>;

/// Returns the windows of a layer over `input`.
WindowAxes windows_of(const LayerSettings& layer, const Shape& input);

/// Returns the windows [height, width] of a transposed convolution from `input` to `output`. `before` and
/// `after` are cut off; `beyond` are the rows and columns that ONNX and Keras add as output_padding.
WindowAxes transposed_windows_of(const LayerSettings& layer, const Shape& input, const Shape& output);

/// A window of a pooling along one axis: the positions [begin, end), and what their sum is divided by.
struct PoolWindow {
  std::int64_t begin = 0, end = 0, divisor = 1;
};
/// Returns the windows that cover `inputs` positions evenly, as PyTorch's adaptive pooling does: from
/// o inputs / outputs, rounded down, to (o + 1) inputs / outputs, rounded up.
std::vector<PoolWindow> adaptive_windows(std::int64_t inputs, std::int64_t outputs);
/// Returns the matrix (inputs, windows) by which means over windows are a product.
std::vector<float> mean_matrix(std::int64_t inputs, std::span<const PoolWindow> windows);

/// The canonical parameters of one member by node and name.
class ModelWeights {
 public:
  /// `graph` and `values` must outlive this object.
  ModelWeights(const nn::Graph& graph, std::span<const float> values);

  /// Returns a parameter of `node`, or of the node that it shares its parameters with. Throws Error if it has
  /// none of this name.
  std::span<const float> of(const nn::Node& node, std::string_view parameter) const;

 private:
  const nn::Graph& graph_;
  std::unordered_map<std::string, std::span<const float>> by_name_;
};

/// A model that a format writes. `Value`: what the format has for the output of a node.
template <class Value>
struct WrittenModel {
  const nn::Graph& graph;
  const ModelWeights& weights;
  std::string prefix;              ///< makes names unique if several models share a file
  std::vector<Value> values = {};  ///< of the nodes that have one already
};

/// One node of a WrittenModel.
template <class Model>
class WrittenNode {
 public:
  /// Both must outlive this object.
  WrittenNode(Model& model, const nn::Node& written)
      : settings(*written.layer), node(written), model_(model) {}

  const LayerSettings settings;
  const nn::Node& node;

  std::size_t input_count() const { return node.inputs.size(); }
  const auto& input(std::size_t i = 0) const { return model_.values[node.inputs[i]]; }
  const nn::ValueSpec& input_shape(std::size_t i = 0) const {
    return model_.graph.node(node.inputs[i]).shape;
  }
  std::int64_t channels() const { return nn::channels_of(input_shape()); }
  /// Returns a parameter's values; they outlive the writing of the file.
  std::span<const float> values_of(std::string_view parameter) const {
    return model_.weights.of(node, parameter);
  }

 protected:
  Model& model_;
};

/// Returns the activation of the loss if the network ends without it, so that its outputs are logits:
/// "softmax", "sigmoid"; otherwise "".
std::string_view missing_activation(const run::ModelDescription& model);

}  // namespace convoke::interop
