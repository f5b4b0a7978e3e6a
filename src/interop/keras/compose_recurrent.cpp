#include <algorithm>

#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
namespace {

// True if a layer of the graph skips the time steps where the token is 0.
bool masks(const nn::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const nn::Node& node) {
    return node.layer != nullptr && node.inputs.size() == 2 && node.layer->traits().reads_by_time;
  });
}

// The weights of one direction; the gates are in our order already.
void add_direction(const Composition& c, const std::string& prefix, const std::string& path,
                   std::vector<KerasWeight>& weights) {
  const std::int64_t units = c.settings.integer("units"), features = c.input_shape()[1];
  const bool lstm = c.settings.type() == "lstm";
  const std::int64_t width = units * (lstm ? 4 : 3);
  weights.push_back(c.weight(prefix + "weight", "kernel", {width, features}, {1, 0}, path));
  weights.push_back(c.weight(prefix + "recurrent_weight", "recurrent_kernel", {width, units}, {1, 0}, path));
  if (!c.settings.flag("bias")) return;
  if (lstm) {
    weights.push_back(c.weight(prefix + "bias", "bias", {width}, {0}, path));
    return;
  }
  weights.push_back({path,
                     "bias",
                     {2, width},
                     [input = c.values_of(prefix + "bias"), state = c.values_of(prefix + "recurrent_bias")] {
                       std::vector<float> both(input.begin(), input.end());
                       both.insert(both.end(), state.begin(), state.end());
                       return both;
                     }});
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

}  // namespace

KerasTensor compose_embedding(Composition& c) {
  const std::int64_t vocabulary = c.settings.integer("vocabulary"), units = c.settings.integer("units");
  const bool masked = masks(c.model().graph);
  KerasTensor y =
      c.weighted("", "Embedding", {{"input_dim", vocabulary}, {"output_dim", units}, {"mask_zero", masked}},
                 {c.weight("weight", "embeddings", {vocabulary, units}, {0, 1})}, c.input(), c.output());
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
  std::vector<KerasWeight> weights;
  KerasTensor y;
  if (!c.settings.flag("bidirectional")) {
    add_direction(c, "", "cell", weights);
    y = c.weighted("", name, layer_config(c), std::move(weights), x, c.output());
  } else {
    add_direction(c, "", "forward_layer/cell", weights);
    add_direction(c, "backward_", "backward_layer/cell", weights);
    const Json inner{{"module", "keras.layers"},  // Keras 2 reads this form too, Keras 3 no other
                     {"class_name", name},
                     {"config", layer_config(c)},
                     {"registered_name", nullptr}};
    y = c.weighted("", "Bidirectional", {{"layer", inner}, {"merge_mode", "concat"}}, std::move(weights), x,
                   c.output());
  }
  y.masked = masked && c.settings.flag("sequences");
  return y;
}

}  // namespace convoke::interop::keras_export
