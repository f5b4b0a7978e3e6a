#include "convoke/nn/layers/sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "nn/kernels/embedding.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/softmax.hpp"
#include "nn/layers/recurrent_direction.hpp"
#include "nn/layers/recurrent_input.hpp"
#include "nn/layers/shared_keys.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

bool read_by_time(const Graph& graph, const Node& node) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& reader) {
    return !reader.inputs.empty() && reader.inputs[0] == node.index && reader.layer->traits().reads_by_time;
  });
}

}  // namespace

Shape Embedding::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].type != ValueType::kToken) {
    throw Error(
        fmt::format("needs tokens (N, L), but its input is {}", inputs[0].describe()),
        "make it the first layer of a network whose input is tokens; use dense or conv2d for numbers");
  }
  return {inputs[0][0], options_.units};
}

std::vector<ParameterSpec> Embedding::parameters(std::span<const ValueSpec>) const {
  return {{.name = "weight", .shape = {options_.vocabulary, options_.units}, .initializer = "uniform"}};
}

Embedding::Keys Embedding::keys() {
  static constexpr std::array kKeys{
      key<&EmbeddingOptions::vocabulary>({.name = "vocabulary",
                                          .range = kAtLeastOne,
                                          .required = true,
                                          .help = "number of tokens, which are 0 to vocabulary - 1"}),
      key<&EmbeddingOptions::units>(
          {.name = "units", .range = kAtLeastOne, .required = true, .help = "numbers for each token"})};
  return kKeys;
}

void Embedding::compile(PlanBuilder& plan, const Node& node) const {
  const Tensor x = plan.value(node.inputs[0]);
  const std::int64_t rows = options_.vocabulary;
  plan.prefer(node, "weight", Desc({rows, options_.units}, kFloat, Format::ab));
  const Tensor weight = plan.parameter(node, "weight");
  const SequenceExtents extents{plan.samples(), node.shape[0], options_.units};
  const bool time_major = read_by_time(plan.graph(), node);
  const Tensor y = plan.allocate(time_major ? time_major_desc(extents, plan.stored())
                                            : plan.plain_desc(node.shape, plan.stored()));
  const SequenceLayout layout{extents.samples, extents.length, extents.features,
                              time_major ? extents.features : extents.length * extents.features,
                              time_major ? extents.samples * extents.features : extents.features};
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=, &node]<class T>(const Frame& frame) {
        const std::int32_t* tokens = frame.integers(x.ref);
        const std::int64_t bad =
            kernels<EmbeddingKernels<T>>().forward(layout, tokens, frame.at(weight), rows, frame.at<T>(y));
        if (bad < 0) return;
        const auto sample = static_cast<std::size_t>(bad / layout.length);
        const auto id = frame.key.samples.empty() ? sample : frame.key.samples[sample];
        throw Error(fmt::format("{}: sample {} has token {} at position {}, but the vocabulary is 0..{}",
                                node.name, id, tokens[bad], bad % layout.length, rows - 1),
                    "set vocabulary to one more than the largest token of the dataset");
      },
      {x.ref, weight.ref, y.ref}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor gradient = plan.gradient_of(node, "weight");
    plan.add_typed_kernel(dy.desc, node, "backward weights",
                          [=]<class T>(const Frame& frame) {
                            kernels<EmbeddingKernels<T>>().backward(
                                layout, frame.integers(x.ref), frame.at<T>(dy), rows, frame.at(gradient));
                          },
                          {x.ref, dy.ref, gradient.ref}, gradient, 0, {plan.slot(node, "weight")});
  });
}

namespace {

const char* prefix_of(int direction) { return direction == 0 ? "" : "backward_"; }

}  // namespace

Shape Recurrent::output_shape(std::span<const ValueSpec> inputs) const {
  const ValueSpec& x = inputs[0];
  if (x.type == ValueType::kToken) {
    throw Error(fmt::format("needs sequences of numbers (N, L, F), but its input is {}", x.describe()),
                "put an embedding layer before it");
  }
  if (x.rank() != 2) {
    throw Error(
        fmt::format("needs sequences (N, L, F), but its input is {}", x.describe()),
        "set sequences = true on a recurrent layer before it; reshape turns other values into sequences");
  }
  if (inputs.size() > 2) throw Error("accepts at most two inputs: a sequence and its tokens");
  if (inputs.size() == 2 && (inputs[1].type != ValueType::kToken || inputs[1][0] != x[0])) {
    throw Error(
        fmt::format("its second input masks padding and must be tokens (N, {}) for sequences {}, but is {}",
                    x[0], x.describe(), inputs[1].describe()),
        "name the network's input of tokens: inputs = [\"embedding_1\", \"input\"]");
  }
  const std::int64_t units = options_.units * (options_.bidirectional ? 2 : 1);
  return options_.sequences ? Shape{x[0], units} : Shape{units};
}

std::vector<ParameterSpec> Recurrent::parameters(std::span<const ValueSpec> inputs) const {
  const std::int64_t features = inputs[0][1], width = gates() * options_.units;
  std::vector<ParameterSpec> specs;
  for (int direction = 0; direction < (options_.bidirectional ? 2 : 1); ++direction) {
    const std::string prefix = prefix_of(direction);
    specs.push_back(weight_of(prefix + "weight", {width, features}, Initializer::kGlorotUniform));
    specs.push_back(
        {.name = prefix + "recurrent_weight", .shape = {width, options_.units}, .initializer = "orthogonal"});
    if (!options_.bias) continue;
    specs.push_back({.name = prefix + "bias",
                     .shape = {width},
                     .initializer = unit_ == Unit::kLstm ? "unit_forget_bias" : "zeros"});
    if (unit_ == Unit::kGru) specs.push_back({.name = prefix + "recurrent_bias", .shape = {width}});
  }
  return specs;
}

LayerTraits Recurrent::traits() const {
  return {.inputs = LayerTraits::Inputs::kOneOrMore,
          .takes_tokens = true,
          .reads_by_time = true,
          .draws_random = options_.dropout > 0 || options_.recurrent_dropout > 0};
}

Recurrent::Keys Recurrent::keys(Unit) {
  using O = RecurrentOptions;
  static constexpr std::array kKeys{
      key<&O::units>({.name = "units", .range = kAtLeastOne, .required = true, .help = "size of the state"}),
      key<&O::sequences>(
          {.name = "sequences", .help = "return all states (L, units) instead of the last one"}),
      key<&O::bidirectional>({.name = "bidirectional", .help = "run from both ends; doubles the outputs"}),
      kBias<O>,
      key<&O::dropout>(
          {.name = "dropout", .range = kProbability, .help = "dropout of the input, in training"}),
      key<&O::recurrent_dropout>(
          {.name = "recurrent_dropout", .range = kProbability, .help = "dropout of the state, in training"})};
  return kKeys;
}

void Recurrent::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Shape& in = plan.graph().node(from).shape;
  const Type type = plan.stored();
  const std::int64_t directions = options_.bidirectional ? 2 : 1;
  const SequenceExtents extents{plan.samples(), in[0], in[1]};
  const Tensor x = plan.reordered(plan.value_as(from, type, node), time_major_desc(extents, type), node);
  const Tensor y = plan.allocate(
      options_.sequences ? time_major_desc({plan.samples(), in[0], directions * options_.units}, type)
                         : plan.plain_desc(node.shape, type));

  const Layer* before = plan.graph().node(from).layer.get();
  const std::int64_t vocabulary = before == nullptr ? 0 : before->traits().vocabulary;
  std::vector<std::shared_ptr<Direction>> built;
  for (int i = 0; i < directions; ++i) {
    DirectionSpec spec;
    spec.gru = unit_ == Unit::kGru;
    spec.reverse = i == 1;
    spec.number = static_cast<std::uint32_t>(i);
    spec.directions = directions;
    spec.prefix = prefix_of(i);
    spec.options = options_;
    spec.in = extents;
    spec.x = x;
    if (node.inputs.size() > 1) spec.tokens = plan.value(node.inputs[1]);
    spec.vocabulary = vocabulary;
    if (vocabulary > 0) spec.embedded = plan.value(plan.graph().node(from).inputs[0]);
    spec.y = y;
    built.push_back(std::make_shared<Direction>(plan, node, std::move(spec)));
  }
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    for (const auto& direction : built) direction->backward(plan, node, dy);
  });
}

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
