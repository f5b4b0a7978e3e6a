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
    const Json inner{{"module", "keras.layers"},  // Keras 2 reads this form too, Keras 3 no other
                     {"class_name", name},
                     {"config", layer_config(c)},
                     {"registered_name", nullptr}};
    y = c.weighted("", "Bidirectional", {{"layer", inner}, {"merge_mode", "concat"}}, c.weights(), x,
                   c.output());
  }
  y.masked = masked && c.settings.flag("sequences");
  return y;
}

}  // namespace convoke::interop::keras_export
