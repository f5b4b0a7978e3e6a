#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "interop/keras/composition.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/emission.hpp"

// How layers for texts and sequences are written: attention, embeddings and recurrent layers.
// Our attention with the convolutions of kernel 1 before and after it is Keras' MultiHeadAttention. Without
// them, that layer has unit matrices in their place.

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

// Our gates in ONNX's order: i, f, g, o -> i, o, f, g for the LSTM; z, r, g is ONNX's z, r, h.
constexpr std::array<std::size_t, 4> kLstmGates{0, 3, 1, 2};
constexpr std::array<std::size_t, 3> kGruGates{0, 1, 2};

// Appends a parameter (gates U, ...) with its gates reordered.
void append_gates(std::vector<float>& all, std::span<const float> values,
                  std::span<const std::size_t> order) {
  const std::size_t gate = values.size() / order.size();
  for (const std::size_t from : order) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from * gate);
    all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(gate));
  }
}

class RecurrentEmission {
 public:
  explicit RecurrentEmission(Emission& e)
      : e_(e),
        lstm_(e.settings.type() == "lstm"),
        directions_(e.settings.flag("bidirectional") ? 2 : 1),
        units_(e.settings.integer("units")),
        length_(e.input_shape()[0]),
        features_(e.input_shape()[1]),
        gates_(lstm_ ? std::span<const std::size_t>(kLstmGates) : std::span<const std::size_t>(kGruGates)) {}

  void emit() {
    const bool masked = e_.input_count() > 1;
    if (masked) read_mask();
    const std::string x = masked ? compacted() : e_.input();
    std::vector<std::string> inputs{e_.op("Transpose", {x}, {{"perm", Integers{1, 0, 2}}}),  // (L, N, F)
                                    weights("W", "weight", features_),
                                    weights("R", "recurrent_weight", units_),
                                    e_.settings.flag("bias") ? biases() : std::string(), lengths_};
    if (!masked) inputs.resize(e_.settings.flag("bias") ? 4 : 3);
    OnnxAttributes attributes{{"hidden_size", units_},
                              {"direction", std::string(directions_ == 2 ? "bidirectional" : "forward")}};
    if (!lstm_) attributes.push_back({"linear_before_reset", std::int64_t{1}});
    const bool sequences = e_.settings.flag("sequences");
    // Y (L, D, N, U), Y_h (D, N, U)
    const std::string y =
        e_.op_output(lstm_ ? "LSTM" : "GRU", std::move(inputs), sequences ? 0 : 1, attributes);
    if (!sequences) {
      const std::string by_sample = e_.op("Transpose", {y}, {{"perm", Integers{1, 0, 2}}});
      return e_.result_reshaped(by_sample, {directions_ * units_});
    }
    const std::string by_sample = e_.op("Transpose", {y}, {{"perm", Integers{2, 0, 1, 3}}});
    if (!masked) return e_.result_reshaped(by_sample, {length_, directions_ * units_});
    spread(e_.reshape(by_sample, {length_, directions_ * units_}));
  }

 private:
  // The parts of an operand, direction by direction.
  using Parts = std::vector<std::span<const float>>;
  Parts parts_of(std::initializer_list<std::string_view> parameters) const {
    Parts parts;
    for (const std::string& prefix : {std::string(), std::string("backward_")}) {
      if (!prefix.empty() && directions_ == 1) break;
      for (const std::string_view parameter : parameters)
        parts.push_back(e_.values_of(prefix + std::string(parameter)));
    }
    return parts;
  }
  std::string weights(std::string_view name, std::string_view parameter, std::int64_t inputs) {
    return e_.made_weight(name, {directions_, std::ssize(gates_) * units_, inputs},
                          [parts = parts_of({parameter}), gates = gates_] {
                            std::vector<float> all;
                            for (const auto& part : parts) append_gates(all, part, gates);
                            return all;
                          });
  }
  // For each direction the bias of the input and that of the state, which our LSTM does not have.
  std::string biases() {
    const std::int64_t width = std::ssize(gates_) * units_;
    const Parts parts = lstm_ ? parts_of({"bias"}) : parts_of({"bias", "recurrent_bias"});
    return e_.made_weight("B", {directions_, 2 * width}, [=, gates = gates_, lstm = lstm_] {
      std::vector<float> all;
      for (const auto& part : parts) {
        append_gates(all, part, gates);
        if (lstm) all.resize(all.size() + part.size());
      }
      return all;
    });
  }

  // Masked time steps may be anywhere, but ONNX only knows lengths. A state that passes over masked steps
  // unchanged equals one that runs over the other steps alone: they are moved to the front, in their order.
  void read_mask() {
    const std::string zero = e_.cast(e_.integer("zero", 0), OnnxType::kInt32);
    present_ = e_.cast(e_.op("Not", {e_.op("Equal", {e_.input(1), zero})}), OnnxType::kInt64);
    const std::string sum =
        e_.op("ReduceSum", {present_, e_.integers("axes", {1})}, {{"keepdims", std::int64_t{0}}});
    lengths_ = e_.cast(sum, OnnxType::kInt32);
  }
  std::string compacted() {
    Integers steps(static_cast<std::size_t>(length_));
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = length_ + static_cast<std::int64_t>(i);
    // Time step t gets the key t, or L + t if it is masked.
    const std::string keys =
        e_.op("Sub", {e_.integers("places", steps), e_.op("Mul", {present_, e_.integer("length", length_)})});
    const std::string order = e_.op_output("TopK", {keys, e_.integers("count", {length_})}, 1,
                                           {{"axis", std::int64_t{1}}, {"largest", std::int64_t{0}}});
    return gather(e_.input(), order);
  }
  std::string gather(const std::string& value, const std::string& steps) {
    const std::string index = e_.op("Unsqueeze", {steps, e_.integers("axes", {2})});
    return e_.op("GatherND", {value, index}, {{"batch_dims", std::int64_t{1}}});
  }
  // The reverse: time step t shows the state after the steps up to t that are not masked. In a bidirectional
  // layer masked steps are 0.
  void spread(const std::string& states) {
    const std::string count = e_.op("CumSum", {present_, e_.integer("axis", 1)});
    const std::string last =
        e_.op("Max", {e_.op("Sub", {count, e_.integer("one", 1)}), e_.integer("first", 0)});
    const std::string shown = directions_ == 2 ? present_ : e_.op("Min", {count, e_.integer("most", 1)});
    const std::string factor =
        e_.cast(e_.op("Unsqueeze", {shown, e_.integers("axes", {2})}), OnnxType::kFloat);
    e_.result("Mul", {gather(states, last), factor});
  }

  Emission& e_;
  bool lstm_;
  std::int64_t directions_, units_, length_, features_;
  std::span<const std::size_t> gates_;
  std::string present_, lengths_;  // (N, L) int64 of 0 and 1; (N) int32
};

void emit_embedding(Emission& e) {
  const std::int64_t vocabulary = e.settings.integer("vocabulary"), units = e.settings.integer("units");
  e.result("Gather", {e.weight("weight", "weight", {vocabulary, units}), e.input()});
}

void emit_recurrent(Emission& e) { RecurrentEmission(e).emit(); }

// True if a layer of the graph skips the time steps where the token is 0.
bool masks(const nn::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const nn::Node& node) {
    return node.layer != nullptr && node.inputs.size() == 2 && node.layer->traits().reads_by_time;
  });
}

Json layer_config(const Composition& c) {
  Json config{{"units", c.settings.integer("units")},
              {"activation", "tanh"},
              {"recurrent_activation", "sigmoid"},
              {"use_bias", c.settings.flag("bias")},
              {"return_sequences", c.settings.flag("sequences")},
              {"dropout", c.settings.number("dropout")},
              {"recurrent_dropout", c.settings.number("recurrent_dropout")}};
  if (c.settings.type() == "gru") config["reset_after"] = true;
  return config;
}

KerasTensor compose_embedding(Composition& c) {
  const std::int64_t vocabulary = c.settings.integer("vocabulary"), units = c.settings.integer("units");
  const bool masked = masks(c.model().graph);
  KerasTensor y =
      c.weighted("", "Embedding", {{"input_dim", vocabulary}, {"output_dim", units}, {"mask_zero", masked}},
                 c.weights(), c.input(), c.output());
  y.masked = masked;
  return y;
}

KerasTensor compose_recurrent(Composition& c) {
  const bool masked = c.input_count() > 1;
  if (masked && !c.input().masked) {
    c.refuse(
        "with tokens behind layers that end Keras' mask; it keeps masks behind embedding, recurrent "
        "layers with sequences, dropout, activations and normalizations");
  }
  const std::string name = c.settings.type() == "lstm" ? "LSTM" : "GRU";
  const KerasTensor x = masked ? c.input() : c.unmasked(c.input());
  KerasTensor y;
  if (!c.settings.flag("bidirectional")) {
    y = c.weighted("", name, layer_config(c), c.weights(), x, c.output());
  } else {
    // Keras 2 reads this form too, Keras 3 no other.
    const Json inner = keras3_object("keras.layers", name, layer_config(c));
    y = c.weighted("", "Bidirectional", {{"layer", inner}, {"merge_mode", "concat"}}, c.weights(), x,
                   c.output());
  }
  y.masked = masked && c.settings.flag("sequences");
  return y;
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

const std::initializer_list<WrittenLayer> kWrittenSequences{
    WrittenLayer{"attention", emit_attention, compose_attention},
    WrittenLayer{"embedding", emit_embedding, compose_embedding},
    WrittenLayer{"gru", emit_recurrent, compose_recurrent},
    WrittenLayer{"lstm", emit_recurrent, compose_recurrent},
};

}  // namespace convoke::interop
