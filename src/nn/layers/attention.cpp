#include "convoke/nn/layers/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "nn/kernels/softmax.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// Returns the layout of a sequence for the products: (N, L, F), features next to each other.
Desc rows(const Desc& sequence) { return {dims_of(sequence), kFloat, Format::nhwc}; }

/// Returns such a sequence as matrices (N, heads, L, F / heads), in place.
Desc by_head(const Desc& sequence, std::int64_t heads) {
  const Dims dims = dims_of(sequence);  // (N, F, 1, L)
  const std::int64_t features = dims[1], length = dims[3];
  return {{dims[0], heads, length, features / heads},
          kFloat,
          Dims{length * features, features / heads, features, 1}};
}

Desc transposed(const Desc& matrices) { return matrices.permute_axes({0, 1, 3, 2}); }

/// Adds the step y = factor a b for each sample and head. The descriptors are those of the memory seen as
/// matrices.
void add_product(PlanBuilder& plan, const Node& node, const std::string& what, Tensor a, Tensor b, Tensor y,
                 float factor = 1) {
  const auto attr = factor == 1
                        ? attributes()
                        : attributes_with({.activation = dnnl::algorithm::eltwise_linear, .alpha = factor});
  const auto pd = forward_desc<dnnl::matmul>(attr, a.desc, b.desc, y.desc);
  const Dims left = dims_of(a.desc), right = dims_of(b.desc);
  const double flops = 2.0 * static_cast<double>(left[0] * left[1] * left[2] * left[3] * right[3]);
  plan.add_primitive(
      node, what, dnnl::matmul(pd), pd.impl_info_str(),
      {{DNNL_ARG_SRC, std::move(a)}, {DNNL_ARG_WEIGHTS, std::move(b)}, {DNNL_ARG_DST, std::move(y)}},
      pd.scratchpad_desc(), flops);
}

Tensor seen_as(Tensor tensor, const Desc& desc) {
  tensor.desc = desc;
  return tensor;
}

}  // namespace

Shape Attention::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs.size() != 3 ||
      std::any_of(inputs.begin(), inputs.end(), [](const Shape& shape) { return shape.rank() != 2; })) {
    std::string given;
    for (const ValueSpec& shape : inputs) given += (given.empty() ? "" : ", ") + shape.with_batch();
    throw Error(fmt::format("needs three sequences (N, L, F): query, key and value, but has {}", given),
                "name three: { layer = \"attention\", inputs = [\"query\", \"key\", \"value\"] }");
  }
  const Shape &query = inputs[0], &key = inputs[1], &value = inputs[2];
  if (query[1] != key[1] || key[0] != value[0]) {
    throw Error(fmt::format("its query {}, key {} and value {} do not fit", query.with_batch(),
                            key.with_batch(), value.with_batch()),
                "query and key need the same number of features, key and value the same length");
  }
  if (query[1] % options_.heads != 0 || value[1] % options_.heads != 0) {
    throw Error(fmt::format("its {} heads do not divide the features of its query {} and value {}",
                            options_.heads, query.with_batch(), value.with_batch()),
                "choose a number of heads that divides both");
  }
  return {query[0], value[1]};
}

Attention::Keys Attention::keys() {
  static constexpr std::array kKeys{
      key<&AttentionOptions::heads>(
          {.name = "heads", .range = kAtLeastOne, .help = "each reads its own part of the features"}),
      key<&AttentionOptions::scale>(
          {.name = "scale",
           .range = kNotNegative,
           .help = "factor of the scores; 0: 1 / √(features of the query / heads)"})};
  return kKeys;
}

//   s = scale q k^T        (N, heads, L, S)
//   p = softmax(s)
//   y = p v                (N, heads, L, G / heads)
// Backward, with dp = dy v^T and ds = the gradient of softmax:
//   dv = p^T dy,  dq = scale ds k,  dk = scale ds^T q
void Attention::compile(PlanBuilder& plan, const Node& node) const {
  const std::int64_t heads = options_.heads;
  Tensor inputs[3];  // as (N, L, F)
  Desc split[3];     // as (N, heads, L, F / heads)
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor given = plan.value_as(node.inputs[i], kFloat, node);
    inputs[i] = plan.reordered(given, rows(given.desc), node);
    split[i] = by_head(inputs[i].desc, heads);
  }
  const Tensor q = seen_as(inputs[0], split[0]), k = seen_as(inputs[1], split[1]),
               v = seen_as(inputs[2], split[2]);
  const std::int64_t length = dims_of(q.desc)[2], key_length = dims_of(k.desc)[2];
  const float scale = options_.scale > 0 ? static_cast<float>(options_.scale)
                                         : 1 / std::sqrt(static_cast<float>(dims_of(q.desc)[3]));
  const std::int64_t queries = plan.samples() * heads * length;

  const Tensor p = plan.allocate(Desc({plan.samples(), heads, length, key_length}, kFloat, Format::abcd));
  add_product(plan, node, "forward scores", q, seen_as(k, transposed(k.desc)), p, scale);
  plan.add_kernel(
      node, "forward softmax",
      [=](const Frame& frame) { softmax_forward(frame.at(p), frame.at(p), queries, key_length); }, {p.ref},
      p);
  const Tensor y = plan.allocate(rows(Desc(plan.batched(node.shape), kFloat, Format::nhwc)));
  const Desc y_split = by_head(y.desc, heads);
  add_product(plan, node, "forward", p, v, seen_as(y, y_split));
  plan.set_value(node.index, y);

  plan.on_gradient(node, [=, &plan, &node](const Tensor& given) {
    const Tensor dy = seen_as(given, y_split);
    // Returns the gradient of an input, factor a b.
    const auto give = [&](std::size_t input, const std::string& what, const Tensor& a, const Tensor& b,
                          float factor) {
      const Tensor dx = plan.allocate(inputs[input].desc);
      add_product(plan, node, what, a, b, seen_as(dx, split[input]), factor);
      plan.add_gradient(node.inputs[input], dx, node);
    };
    if (plan.needs_gradient(node.inputs[2])) give(2, "backward value", seen_as(p, transposed(p.desc)), dy, 1);
    if (!plan.needs_gradient(node.inputs[0]) && !plan.needs_gradient(node.inputs[1])) return;
    const Tensor ds = plan.allocate(p.desc);
    add_product(plan, node, "backward scores", dy, seen_as(v, transposed(v.desc)), ds);
    plan.add_kernel(
        node, "backward softmax",
        [=](const Frame& frame) {
          softmax_backward(frame.at(p), frame.at(ds), frame.at(ds), queries, key_length);
        },
        {p.ref, ds.ref}, ds);
    if (plan.needs_gradient(node.inputs[0])) give(0, "backward query", ds, k, scale);
    if (plan.needs_gradient(node.inputs[1]))
      give(1, "backward key", seen_as(ds, transposed(ds.desc)), q, scale);
  });
}

}  // namespace convoke::nn
