#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"

// Attention: dense layers for query, key and value, our layer attention, and a dense layer for its output.

namespace convoke::interop::keras {
namespace {

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

}  // namespace

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

}  // namespace convoke::interop::keras
