#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "interop/keras/composition.hpp"
#include "interop/onnx/emission.hpp"
#include "interop/written_layers.hpp"

// How attention is written. Ours with the convolutions of kernel 1 before and after it is Keras'
// MultiHeadAttention. Without them, that layer has unit matrices in their place.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

// softmax(scale q k^T) v over (N, heads, L, features)
void emit_attention(Emission& e) {
  const std::int64_t heads = e.settings.integer("heads");
  const auto split = [&](std::size_t input, const Integers& perm) {
    const Shape& sequence = e.input_shape(input);
    const std::string parts = e.reshape(e.input(input), {sequence[0], heads, sequence[1] / heads});
    return e.op("Transpose", {parts}, {{"perm", perm}});
  };
  const double given = e.settings.number("scale");
  const double scale = given > 0 ? given : 1 / std::sqrt(static_cast<double>(e.input_shape()[1] / heads));
  const std::string query = e.op("Mul", {split(0, {0, 2, 1, 3}), e.scalar(scale)});
  const std::string scores = e.op("MatMul", {query, split(1, {0, 2, 3, 1})});
  const std::string weights = e.op("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const std::string sums = e.op("MatMul", {weights, split(2, {0, 2, 1, 3})});
  e.result_reshaped(e.op("Transpose", {sums}, {{"perm", Integers{0, 2, 1, 3}}}), e.node.shape.extents());
}

constexpr std::string_view kSuffix = ".attention";  // of the node that the reader makes of such a layer

/// The convolutions around an attention: of query, key and value, and of its output.
using Around = std::array<const nn::Node*, 4>;

// True if each time step of the sequence is multiplied by a matrix that no other node uses.
bool is_projection(const nn::Graph& graph, const nn::Node& node) {
  if (node.layer == nullptr || node.layer->type() != "conv1d" || graph.shares(node)) return false;
  const LayerSettings settings(*node.layer);
  const WindowAxis axis = windows_of(settings, graph.node(node.inputs[0]).shape)[0];
  return axis.kernel == 1 && axis.stride == 1 && axis.before + axis.after == 0 &&
         settings.integer("groups") == 1;
}

// Keras' layer has biases everywhere or nowhere, and one option `trainable`.
bool fits(const nn::Graph& graph, const nn::Node& attention, const Around& around) {
  for (std::size_t i = 0; i < around.size(); ++i) {
    const nn::Node& node = *around[i];
    if (!is_projection(graph, node) || node.options != around[0]->options ||
        node.parameters.size() != around[0]->parameters.size()) {
      return false;
    }
    if (i < 3 && readers_of(graph, node.index).size() != 1) return false;
  }
  return LayerSettings(*attention.layer).number("scale") == 0;
}

std::optional<Around> around(const nn::Graph& graph, const nn::Node& attention) {
  const std::vector<const nn::Node*> readers = readers_of(graph, attention.index);
  if (readers.size() != 1) return std::nullopt;
  const Around all{&graph.node(attention.inputs[0]), &graph.node(attention.inputs[1]),
                   &graph.node(attention.inputs[2]), readers[0]};
  if (!fits(graph, attention, all)) return std::nullopt;
  return all;
}

/// A dense layer of Keras' attention: (in) -> (heads, width), or its reverse at the output.
struct Projection {
  std::string path;
  Shape kernel, bias;
  std::int64_t in, out;
};

void add_weights(const Composition& c, const Projection& p, const nn::Node& convolution,
                 std::vector<KerasWeight>& weights) {
  weights.push_back(
      weight_of(c.model().weights.of(convolution, "weight"), "kernel", {p.out, p.in}, {1, 0}, p.path));
  weights.back().shape = p.kernel;
  if (convolution.parameters.size() < 2) return;
  weights.push_back(
      weight_of(c.model().weights.of(convolution, "bias"), "bias", {p.bias.elements()}, {0}, p.path));
  weights.back().shape = p.bias;
}

KerasWeight scaled_unit_matrix(const Projection& p, float scale) {
  return {p.path, "kernel", p.kernel, [=] {
            std::vector<float> values(static_cast<std::size_t>(p.in * p.out), 0);
            for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(p.out) + 1)
              values[i] = scale;
            return values;
          }};
}

KerasTensor compose_attention(Composition& c) {
  const nn::Graph& graph = c.model().graph;
  const std::int64_t heads = c.settings.integer("heads"), width = c.input_shape(0)[1] / heads,
                     value_width = c.input_shape(2)[1] / heads;
  const std::optional<Around> all = around(graph, c.node);
  const std::array<const char*, 4> paths =
      c.keras2() ? std::array{"query", "key", "value", "attention_output"}
                 : std::array{"query_dense", "key_dense", "value_dense", "output_dense"};
  const double given = c.settings.number("scale");
  const double root = std::sqrt(static_cast<double>(width));  // Keras divides by it
  std::vector<KerasWeight> weights;
  std::vector<KerasTensor> inputs;
  std::int64_t outputs = heads * value_width;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t own = i < 2 ? width : value_width, joined = heads * own;
    Projection p{paths[i], {}, {}, joined, joined};
    if (all && i < 3) p.in = graph.node((*all)[i]->inputs[0]).shape[1];
    if (all && i == 3) p.out = outputs = (*all)[i]->shape[1];
    p.kernel = i < 3 ? Shape{p.in, heads, own} : Shape{heads, own, p.out};
    p.bias = i < 3 ? Shape{heads, own} : Shape{p.out};
    if (all) {
      add_weights(c, p, *(*all)[i], weights);
    } else {
      weights.push_back(scaled_unit_matrix(p, i == 0 && given > 0 ? static_cast<float>(given * root) : 1.0F));
    }
  }
  for (const std::size_t i : {0, 2, 1}) inputs.push_back(c.unmasked(c.input(i)));  // query, value, key
  Json config{{"num_heads", heads},
              {"key_dim", width},
              {"value_dim", value_width},
              {"use_bias", all && (*all)[0]->parameters.size() == 2},
              {"output_shape", outputs}};
  if (c.keras2()) {  // it asks for the shapes, which Keras 3 refuses: it reads .keras files with attention
    for (std::size_t i = 0; i < inputs.size(); ++i)
      config[std::array{"query_shape", "value_shape", "key_shape"}.at(i)] = batch_shape(inputs[i].shape);
  }
  if (all) add_regularizers(weights, (*all)[0]->options, config);
  std::string name = c.model().prefix + c.node.name;
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return c.model().out.add("MultiHeadAttention", name, config, std::move(weights), std::move(inputs),
                           {c.node.shape[0], outputs}, all && (*all)[0]->options.trainable);
}

}  // namespace

bool keras_export::is_in_attention(const nn::Graph& graph, const nn::Node& convolution) {
  std::vector<const nn::Node*> near = readers_of(graph, convolution.index);
  near.push_back(&graph.node(convolution.inputs[0]));
  return std::any_of(near.begin(), near.end(), [&](const nn::Node* node) {
    if (node->layer == nullptr || node->layer->type() != "attention") return false;
    const std::optional<Around> all = around(graph, *node);
    return all && std::find(all->begin(), all->end(), &convolution) != all->end();
  });
}

const std::initializer_list<WrittenLayer> kWrittenAttention{
    WrittenLayer{"attention", emit_attention, compose_attention},
};

}  // namespace convoke::interop
