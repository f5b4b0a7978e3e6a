#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"
#include "interop/keras/origin.hpp"

// Layers for texts and sequences.

namespace convoke::interop::keras {
namespace {

// Refuses what our recurrent layers do not compute.
void check(const Config& config, bool gru) {
  if (config.text("activation", "tanh") != "tanh") config.refuse("activation", "supported is \"tanh\"");
  // Keras before 2.3 has hard_sigmoid as its default.
  if (config.text("recurrent_activation", "hard_sigmoid") != "sigmoid") {
    config.refuse("recurrent_activation", "supported is \"sigmoid\"");
  }
  if (gru && !config.flag("reset_after", false)) {
    config.refuse("reset_after",
                  "supported is true, Keras' default since 2.4: train the model again with it");
  }
  for (const char* key : {"return_state", "stateful", "go_backwards", "time_major"})
    config.require_neutral(key);
}

Settings recurrent(const Config& config, std::string_view layer, bool inference) {
  check(config, layer == "gru");
  Settings settings = settings_from(config, layer);
  for (const char* key : {"dropout", "recurrent_dropout"}) {
    if (inference) settings.set(key, 0.0);
  }
  return settings;
}

// Adds the layer to the input, with the tokens that mask it.
Value applied(const Call& call, const Settings& layer, bool sequences) {
  const Value x = call.plain_input();
  std::vector<Value> inputs{x};
  if (x.mask) inputs.push_back({.node = *x.mask, .flattened = {}, .mask = {}});
  Value y = call.add_weighted(layer, inputs);
  if (!sequences) y.mask.reset();
  return y;
}

Call within(const Call& call, Call::Options options, const Json& config, const Value& x) {
  return {call.context(), config, std::move(options), {x}, {}};
}

}  // namespace

Value convert_embedding(const Call& call) {
  const Value x = call.input();
  call.config().require_neutral("lora_rank");
  if (call.builder().graph().node(x.node).shape.type != nn::ValueType::kToken) {
    throw Error("does not read the model's input; embeddings of computed numbers are not supported");
  }
  Value y = call.add_weighted(settings_from(call), {x});
  if (call.config().flag("mask_zero", false)) y.mask = x.node;
  return y;
}

Value convert_recurrent(const Call& call) {
  Call::Options options = call.options();
  if (options.parts.size() == 1 && options.parts[0].empty()) options.parts = {"cell"};
  const Call inner = within(call, std::move(options), call.config().json(), call.input());
  return applied(inner,
                 recurrent(call.config(), layer_of(call.options().class_name), call.options().inference),
                 call.config().flag("return_sequences", false));
}

Value convert_bidirectional(const Call& call) {
  const Config outer = call.config(), forward(outer.at("layer")), settings(forward.at("config"));
  if (outer.text("merge_mode", "concat") != "concat" || !outer.has("merge_mode")) {
    outer.refuse("merge_mode", "supported is \"concat\"");
  }
  const std::string kind = builtin_class(outer.at("layer"));
  if (kind != "LSTM" && kind != "GRU") {
    throw Error(fmt::format("runs a {} in both directions; LSTM and GRU are supported", kind));
  }
  if (outer.has("backward_layer")) {
    const Config backward(Config(outer.at("backward_layer")).at("config"));
    for (const char* key : {"units", "use_bias", "return_sequences", "dropout", "recurrent_dropout"}) {
      if (backward.at(key) != settings.at(key))
        outer.refuse("backward_layer", "both directions must be alike");
    }
    if (builtin_class(outer.at("backward_layer")) != kind) {
      outer.refuse("backward_layer", "both directions must be alike");
    }
  }
  Call::Options options = call.options();
  options.parts = {"forward_layer/cell", "backward_layer/cell"};
  const Call inner = within(call, std::move(options), settings.json(), call.input());
  Settings layer = recurrent(settings, layer_of(kind), call.options().inference);
  layer.set("bidirectional", true);
  return applied(inner, layer, settings.flag("return_sequences", false));
}

// Layers that treat each time step separately do so on their own.
Value convert_time_distributed(const Call& call) {
  static constexpr std::array kPointwise{"Dense",     "Activation", "Dropout",
                                         "ReLU",      "LeakyReLU",  "ELU",
                                         "Rescaling", "Identity",   "LayerNormalization"};
  const Config inner(call.config().at("layer"));
  const std::string kind = builtin_class(inner.json());
  if (std::find(kPointwise.begin(), kPointwise.end(), kind) == kPointwise.end()) {
    throw Error(fmt::format("applies {} to each time step, which is not supported", kind),
                "supported are Dense, activations, Dropout and LayerNormalization");
  }
  const Value x = call.input();
  if (call.shape(x).rank() != 2) {
    throw Error(fmt::format("needs a sequence, but its input is {}", call.keras_shape(x).with_batch()));
  }
  Call::Options options = call.options();
  options.class_name = kind;
  options.parts = {"layer"};
  return find_layer(kind)(within(call, std::move(options), inner.at("config"), x));
}

}  // namespace convoke::interop::keras
