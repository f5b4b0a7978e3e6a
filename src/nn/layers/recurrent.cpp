#include "convoke/nn/layers/recurrent.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/layers/recurrent_direction.hpp"
#include "nn/layers/shared_keys.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/time_major.hpp"

namespace convoke::nn {
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

}  // namespace convoke::nn
