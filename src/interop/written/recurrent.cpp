#include <algorithm>
#include <array>
#include <initializer_list>

#include "interop/keras/composition.hpp"
#include "interop/onnx/emission.hpp"
#include "interop/written_layers.hpp"

// How layers for texts and sequences are written.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

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

const std::initializer_list<WrittenLayer> kWrittenRecurrentLayers{
    WrittenLayer{"embedding", emit_embedding, compose_embedding},
    WrittenLayer{"gru", emit_recurrent, compose_recurrent},
    WrittenLayer{"lstm", emit_recurrent, compose_recurrent},
};

}  // namespace convoke::interop
