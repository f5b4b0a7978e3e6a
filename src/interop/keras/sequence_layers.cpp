#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/call.hpp"

// Layers for texts and sequences. Attention is dense layers for query, key and value, our layer attention,
// and a dense layer for its output. The masks of sequences are here too.

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
  const Value y = call.add_weighted(layer, inputs);
  return sequences ? y : unmasked(y);
}

Call within(const Call& call, Call::Options options, const Json& config, const Value& x) {
  return {call.context(), config, std::move(options), {x}, {}};
}

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
  // Masked time steps have the state before them here. A Bidirectional sets them to 0 in Keras and here.
  const bool sequences = call.config().flag("return_sequences", false);
  if (sequences && call.input().mask && call.config().flag("zero_output_for_mask", false)) {
    call.config().refuse("zero_output_for_mask", "supported is false where the tokens are masked");
  }
  Call::Options options = call.options();
  if (options.parts.size() == 1 && options.parts[0].empty()) options.parts = {"cell"};
  const Call inner = within(call, std::move(options), call.config().json(), call.input());
  return applied(inner,
                 recurrent(call.config(), layer_of(call.options().class_name), call.options().inference),
                 sequences);
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
    for (const char* key : {"units", "use_bias", "activation", "recurrent_activation", "reset_after",
                            "stateful", "return_sequences", "dropout", "recurrent_dropout"}) {
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
  require_rank(call, x, 2);
  Call::Options options = call.options();
  options.class_name = kind;
  options.parts = {"layer"};
  return find_layer(kind)(within(call, std::move(options), inner.at("config"), x));
}

struct Sequences {
  Value query, value, key;
};

// Calls are (query, value, key) by position or keyword; the key is the value by default.
Sequences sequences_of(const Call& call) {
  static constexpr std::string_view kOrder[] = {"query", "value", "key"};
  std::vector<std::optional<Value>> given(3);
  std::size_t position = 0;
  for (const Argument& argument : call.arguments()) {
    const bool by_position = argument.keyword.empty();
    const auto* const name = std::find(std::begin(kOrder), std::end(kOrder), argument.keyword);
    const std::size_t at = by_position ? position++ : static_cast<std::size_t>(name - std::begin(kOrder));
    if (argument.call) {
      const Value& value = call.inputs()[*argument.call];
      if (at >= given.size()) throw Error("has a mask that is a tensor, which is not supported");
      given[at] = value;
    } else if (argument.constant == Json(true) && argument.keyword != "training") {
      throw Error(fmt::format("is called with {}=True, which is not supported", argument.keyword));
    }
  }
  if (!given[0] || !given[1]) throw Error("needs a query and a value");
  Sequences all{*given[0], *given[1], given[2] ? *given[2] : *given[1]};
  for (Value* value : {&all.query, &all.value, &all.key}) {
    if (value->mask)
      throw Error("reads masked sequences, which is not supported for attention",
                  "leave the mask out: Embedding(mask_zero=False)");
    *value = call.plain(*value);
    if (call.shape(*value).rank() != 2) {
      throw Error(fmt::format("needs sequences, but reads {}", call.keras_shape(*value).with_batch()));
    }
  }
  return all;
}

void note_dropout(const Call& call) {
  if (call.config().number("dropout", 0) == 0) return;
  call.note(fmt::format("{} \"{}\" drops attention weights in training, which was left out",
                        call.options().class_name, call.name()));
}

// A kernel (F, heads, d) or (heads, d, F) as one of a convolution, (1, in, out).
Tensor as_kernel(Tensor tensor, std::size_t inputs) {
  const Shape& s = tensor.shape;
  if (s.rank() == 3) tensor.shape = inputs == 1 ? Shape{1, s[0], s[1] * s[2]} : Shape{1, s[0] * s[1], s[2]};
  return tensor;
}

// A bias (heads, d) as (heads d).
Tensor as_vector(Tensor tensor) {
  const std::optional<std::int64_t> elements = checked_elements(tensor.shape);
  if (elements) tensor.shape = {*elements};
  return tensor;
}

Value convert_multi_head_attention(const Call& call) {
  const Config& config = call.config();
  for (const char* key : {"use_gate", "sliding_window", "flash_attention"}) config.require_neutral(key);
  if (const auto axes = config.wholes("attention_axes");
      !axes.empty() && axes != std::vector<std::int64_t>{1})
    config.refuse("attention_axes", "supported is the axis of time");
  note_dropout(call);
  const auto [query, value, key] = sequences_of(call);
  const std::int64_t heads = config.whole("num_heads"), width = config.whole("key_dim"),
                     out = config.whole("value_dim", width);
  constexpr std::int64_t kMost = 1 << 12;
  if (heads < 1 || width < 1 || out < 1 || std::max({heads, width, out}) > kMost)
    throw Error(fmt::format("has {} heads of {} and {} features", heads, width, out));
  const bool bias = config.flag("use_bias", true);
  Call::Options options = call.options();
  options.parts = {"query_dense",  "key_dense",  "value_dense",  "output_dense",
                   "_query_dense", "_key_dense", "_value_dense", "_output_dense"};  // of Keras 3 and 2
  const Call inner(call.context(), config.json(), std::move(options), call.inputs(), {});
  const std::vector<Tensor> stored = inner.tensors();
  const std::size_t each = bias ? 2 : 1;
  if (stored.size() != 4 * each) {
    throw Error(fmt::format("the file has {} weights for it, but it needs {}", stored.size(), 4 * each));
  }
  const auto dense = [&](std::size_t which, const Value& x, std::int64_t units, std::string_view suffix) {
    std::vector<Tensor> tensors{as_kernel(stored[which * each], which < 3 ? 1 : 2)};
    if (bias) tensors.push_back(as_vector(stored[which * each + 1]));
    const Settings layer{{"layer", "conv1d"}, {"filters", units}, {"kernel", 1}, {"bias", bias}};
    return inner.add_weighted(layer, {x}, suffix, std::move(tensors));
  };
  const Value q = dense(0, query, heads * width, "query"), k = dense(1, key, heads * width, "key"),
              v = dense(2, value, heads * out, "value");
  const Value y = inner.add({{"layer", "attention"}, {"heads", heads}}, {q, k, v}, "attention");
  const std::vector<std::int64_t> shape = config.wholes("output_shape");
  if (shape.size() > 1) config.refuse("output_shape", "supported is one axis");
  return dense(3, y, shape.empty() ? call.shape(query)[1] : shape[0], "attention_output");
}

// Without weights: softmax(q k^T) v. Its call is a list [query, value, key].
Value convert_dot_attention(const Call& call) {
  const Config& config = call.config();
  config.require_neutral("use_scale");
  if (config.text("score_mode", "dot") != "dot") config.refuse("score_mode", "supported is \"dot\"");
  note_dropout(call);
  const auto [query, value, key] = sequences_of(call);
  return call.add({{"layer", "attention"}, {"scale", 1.0}}, {query, key, value});
}

using Parts = Value::MaskParts;

constexpr const char* kHint =
    "tokens other than 0 are masked by Embedding(mask_zero=True); leave Masking and other masks out";

// NotEqual(tokens, 0)
Parts tokens_present(const Call& call) {
  const Argument* constant = nullptr;
  for (const Argument& argument : call.arguments()) {
    if (!argument.call && argument.constant.is_number()) constant = &argument;
  }
  if (call.inputs().size() != 1 || constant == nullptr) {
    throw Error("compares tensors, which is not supported", kHint);
  }
  const Value& x = call.inputs().front();
  if (call.shape(x).rank() != 1 || call.builder().graph().node(x.node).shape.type != nn::ValueType::kToken) {
    throw Error("masks time steps by their values, as the layer Masking does, which is not supported", kHint);
  }
  if (constant->constant.get<double>() != 0) {
    throw Error(fmt::format("masks the token {}; supported is 0", constant->constant.dump()), kHint);
  }
  return {.tokens = x.node};
}

Parts all_parts(const Call& call) {
  Parts all;
  for (const Value& input : call.inputs()) {
    if (!input.mask_parts) throw Error("combines a mask with other numbers, which is not supported", kHint);
    const Parts& parts = *input.mask_parts;
    if (all.tokens && parts.tokens && all.tokens != parts.tokens) {
      throw Error("combines the masks of different tokens, which is not supported", kHint);
    }
    if (!all.tokens) all.tokens = parts.tokens;
    all.ones = all.ones || parts.ones;
    all.zeroes = all.zeroes || parts.zeroes;
  }
  return all;
}

// Masks are joined along the features only: other axes would mask other time steps.
void require_last_axis(const Call& call) {
  for (const std::int64_t axis : call.config().wholes("axis")) {
    if (axis != -1 && axis != 2) call.config().refuse("axis", "supported for masks is the last axis");
  }
}

Parts any_of(const Parts& parts) {
  if (parts.ones) return {.ones = true};
  return parts.tokens ? Parts{.tokens = parts.tokens} : parts;
}
Parts all_of(const Parts& parts) {
  if (parts.zeroes) return {.zeroes = true};
  return parts.tokens ? Parts{.tokens = parts.tokens} : parts;
}

using MaskOperation = Named<Parts (*)(const Call& call)>;
constexpr std::array kMaskOperations{
    MaskOperation{"NotEqual", tokens_present},
    MaskOperation{"OnesLike", [](const Call&) { return Parts{.ones = true}; }},
    MaskOperation{"ZerosLike", [](const Call&) { return Parts{.zeroes = true}; }},
    MaskOperation{"ConvertToTensor", all_parts},
    MaskOperation{"ExpandDims", all_parts},
    MaskOperation{"Concatenate", all_parts},
    MaskOperation{"LogicalOr", [](const Call& call) { return any_of(all_parts(call)); }},
    MaskOperation{"LogicalAnd", [](const Call& call) { return all_of(all_parts(call)); }},
    MaskOperation{"Any", [](const Call& call) { return any_of(all_parts(call)); }},
    MaskOperation{"All", [](const Call& call) { return all_of(all_parts(call)); }},
};

const MaskOperation* find_mask_operation(const Call& call) {
  return find_named(kMaskOperations, call.options().class_name);
}

}  // namespace

bool computes_mask(const Call& call) {
  if (find_mask_operation(call) == nullptr) return false;
  const std::string& name = call.options().class_name;
  const bool joins = name == "Concatenate" || name == "LogicalOr" || name == "LogicalAnd";
  return !joins || std::any_of(call.inputs().begin(), call.inputs().end(),
                               [](const Value& input) { return input.mask_parts.has_value(); });
}

Value fold_mask(const Call& call) {
  const MaskOperation& operation = *find_mask_operation(call);
  require_last_axis(call);
  if (call.inputs().empty()) throw Error("reads no tensors");
  Value mask = call.inputs().front();
  mask.mask_parts = operation.value(call);
  return mask;
}

Value mask_numbers(const Call& call, const Value& x) {
  return elementwise(call, "where", {"x", "1", "0"}, {{.node = *x.mask}}, "mask");
}

// An image (L, F, 1) has a channel for each time step, which a vector (L) scales.
Value kept_steps(const Call& call, const Value& x, const Value& mask, std::string_view suffix) {
  const Shape in = call.shape(x);
  const Value places = call.add(reshape_to({in[0], in[1], 1}), x, "places");
  return call.add(reshape_to(in), call.add({{"layer", "multiply"}}, {places, mask}, "times_mask"), suffix);
}

Value with_mask(Value x, const Value& mask) {
  if (!mask.mask_parts || mask.mask_parts->zeroes) {
    throw Error("gets a mask that is not computed from tokens, which is not supported", kHint);
  }
  x.mask = mask.mask_parts->tokens;
  if (mask.mask_parts->ones) x.mask.reset();
  return x;
}

const std::initializer_list<LayerClass> kRecurrentClasses{
    LayerClass{"Attention", convert_dot_attention},
    LayerClass{"Bidirectional", convert_bidirectional},
    LayerClass{"Embedding", convert_embedding, "embedding"},
    LayerClass{"GRU", convert_recurrent, "gru"},
    LayerClass{"LSTM", convert_recurrent, "lstm"},
    LayerClass{"MultiHeadAttention", convert_multi_head_attention},
    LayerClass{"TimeDistributed", convert_time_distributed},
};

}  // namespace convoke::interop::keras
