#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "interop/layer_tables.hpp"
#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

View apply(Call& call, const View& x, std::string_view layer) {
  return call.elementwise(x, {{"layer", layer}});
}
View elu(Call& call, const View& x, double alpha) {
  return call.elementwise(x, {{"layer", "elu"}, {"alpha", alpha}});
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b)); }

void convert_gelu(Call& call) {
  const bool tanh_form = call.text("approximate", "none") == "tanh";
  call.give(call.elementwise(call.view(0), {{"layer", "gelu"}, {"approximate", tanh_form}}));
}

// With a negative slope a: x > 0 ? x : a x = relu(x) - a relu(-x)
void convert_leaky_relu(Call& call) {
  const double slope = call.number("alpha", 0.01);
  if (slope >= 0) return convert_plain(call);
  const View& x = call.view(0);
  const View positive = apply(call, x, "relu");
  const View negative = apply(call, rescaled(call, x, -1, 0), "relu");
  const View scaled = rescaled(call, negative, -slope, 0);
  call.give(positive.with_node(call.add({{"layer", "add"}}, {positive.node, scaled.node})));
}

// With other numbers than those of the paper: gamma elu(x)
void convert_selu(Call& call) {
  const double alpha = call.number("alpha", 1.67326), gamma = call.number("gamma", 1.0507);
  if (near(alpha, 1.67326) && near(gamma, 1.0507)) return convert_plain(call);
  call.give(rescaled(call, elu(call, call.view(0), alpha), gamma, 0));
}

// x sigmoid(alpha x) = silu(alpha x) / alpha
void convert_swish(Call& call) {
  const double alpha = call.number("alpha", 1);
  const bool plain = near(alpha, 1);
  const View x = plain ? call.view(0) : rescaled(call, call.view(0), alpha, 0);
  const View y = apply(call, x, "silu");
  call.give(plain ? y : rescaled(call, y, 1 / alpha, 0));
}

// max(0, min(1, alpha x + beta)); ours is h(x) = max(0, min(1, x / 6 + 1 / 2))
void convert_hard_sigmoid(Call& call) {
  const double alpha = call.number("alpha", 0.2), beta = call.number("beta", 0.5);
  View x = call.view(0);
  if (!near(alpha, 1.0 / 6) || !near(beta, 0.5)) x = rescaled(call, x, 6 * alpha, 6 * beta - 3);
  call.give(apply(call, x, "hard_sigmoid"));
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1)) = alpha elu(x / alpha)
void convert_celu(Call& call) {
  const double alpha = call.number("alpha", 1);
  if (!(alpha > 0)) call.refuse(fmt::format("has alpha = {}", alpha));
  const View inside = rescaled(call, call.view(0), 1 / alpha, 0);
  call.give(rescaled(call, elu(call, inside, 1), alpha, 0));
}

// x tanh(softplus(x)): D. Misra, "Mish", BMVC 2020
void convert_mish(Call& call) {
  const View& x = call.view(0);
  const View gate = apply(call, apply(call, x, "softplus"), "tanh");
  call.give(x.with_node(call.add({{"layer", "multiply"}}, {x.node, gate.node})));
}

void convert_prelu(Call& call) {
  const View& x = call.view(0);
  const Constant& slope = call.constant(1, "slope");
  std::vector<std::size_t> axes;  // of the input, along which slopes differ
  const std::size_t rank = slope.shape.rank();
  if (rank > x.rank()) call.refuse("has a slope with more axes than its input");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = i + x.rank() - rank;
    if (slope.shape[i] == 1) continue;
    if (x.has_batch(axis) || x.dim(axis).value != slope.shape[i]) {
      call.refuse(fmt::format("its slope {} does not fit its input {}", slope.shape.to_string(),
                              to_string(x.dims())));
    }
    axes.push_back(axis);
  }
  if (axes.empty()) {  // one slope for all: one for each channel, all equal
    const std::size_t channels = x.rank() > 1 && !x.has_batch(1) ? 1 : x.rank() - 1;
    const View from = with_channels(call.builder(), x, x.axes[channels]);
    const std::int64_t count = nn::channels_of(call.graph().node(from.node).shape);
    const std::size_t node = call.add({{"layer", "prelu"}}, {from.node}, &slope);
    call.builder().give(node, "alpha",
                        std::vector<float>(static_cast<std::size_t>(count), slope.scalar().value_or(0)));
    if (count > 1)
      call.builder().note("A PRelu with one slope gets one for each channel, all equal at first.");
    return call.give(from.with_node(node));
  }
  const View from = with_channels(call.builder(), x, atoms_of(x, axes));
  const std::size_t node = call.add({{"layer", "prelu"}}, {from.node}, &slope);
  call.import().give(node, "alpha", slope.reshaped({slope.shape.elements()}));
  call.give(from.with_node(node));
}

/// Returns min(max(x, low), high). Numbers between the bounds stay exactly as they are, however wide these
/// are.
View clipped(Call& call, const View& x, double low, double high) {
  constexpr double kOpen = 1e30;
  if (low <= -kOpen && high >= kOpen) return x;
  if (!(high > low)) call.refuse(fmt::format("clips to the empty range from {} to {}", low, high));
  if (low == 0 && high == 6) return apply(call, x, "relu6");
  View y = x;
  if (low == 0) {
    y = apply(call, x, "relu");
  } else if (low > -kOpen) {
    y = computed(call, "maximum", {x, low});
  }
  return high < kOpen ? computed(call, "minimum", {y, high}) : y;
}

void convert_clip(Call& call) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto bound = [&](const char* name, std::size_t input, double fallback) {
    if (call.has_attribute(name)) return call.number(name, fallback);
    if (!call.has(input)) return fallback;
    const std::optional<float> value = call.constant(input, name).scalar();
    if (!value) call.refuse(fmt::format("its {} is not one number", name));
    return static_cast<double>(*value);
  };
  call.give(clipped(call, call.view(0), bound("min", 1, -kNone), bound("max", 2, kNone)));
}

/// Returns the axes over which a Softmax or LogSoftmax sums.
std::vector<std::size_t> summed_axes(Call& call) {
  const View& x = call.view(0);
  const std::size_t first = call.axis(call.integer("axis", call.opset() < 13 ? 1 : -1), x.rank());
  std::vector<std::size_t> axes{first};
  if (call.opset() < 13 && !call.is_recognized()) {  // over all axes from this one on
    for (std::size_t axis = first + 1; axis < x.rank(); ++axis) axes.push_back(axis);
  }
  for (const std::size_t axis : axes) {
    if (x.has_batch(axis)) call.refuse("is over the samples of a batch");
  }
  return axes;
}

/// True if nothing but the shape, the type and the choice of the largest follow until the network's output.
bool ends_network(Call& call) {
  constexpr std::array<std::string_view, 8> kKept{"ArgMax",  "Cast",    "Flatten",   "Identity",
                                                  "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
  const Source& source = call.import().source;
  const NodeProto* node = source.producer(source.model().outputs.at(0).name);
  while (node != nullptr && node != &call.node() && std::ranges::find(kKept, node->op) != kKept.end()) {
    node = source.producer(node->inputs.at(0));
  }
  return node == &call.node();
}

void convert_softmax(Call& call) {
  const View& x = call.view(0);
  const std::vector<std::size_t> axes = summed_axes(call);
  std::vector<Dim> sums = x.dims();
  for (const std::size_t axis : axes) sums[axis] = Dim{1};
  call.expect_shape(1, sums);
  const View from = with_channels(call.builder(), x, atoms_of(x, axes));
  call.give(apply(call, from, "softmax"));
}

// d - log(sum of exp(d)) with d = x - max x: log(softmax(x)) is -inf where the softmax is rounded to 0.
// At the end of a network it is left out if it is over all values of a sample.
void convert_log_softmax(Call& call) {
  const View& x = call.view(0);
  const std::vector<std::size_t> axes = summed_axes(call);
  std::int64_t summed = 1;
  for (const std::size_t axis : axes) summed *= x.dim(axis).value;
  if (ends_network(call) && summed == call.graph().node(x.node).shape.elements()) {
    call.builder().note("The final LogSoftmax is left out: the loss contains it.");
    return call.give(x);
  }
  const View from = with_channels(call.builder(), x, atoms_of(x, axes));
  const std::size_t rank = call.graph().node(from.node).shape.rank();
  std::vector<int> roles{View::kBatch};
  for (std::size_t axis = 0; axis < rank; ++axis) roles.push_back(static_cast<int>(axis));
  const View values = View::of(call.graph(), from.node, roles);
  const std::vector<std::size_t> channels{rank == 3 ? 1 : rank};
  const auto function = [&](const View& of, const char* name) {
    return call.elementwise(of, {{"layer", "elementwise"}, {"function", name}});
  };
  const View most = reduced(call, values, channels, "global_max_pool", true);
  const View below = merged(call, "subtract", {values, most});
  const View sum = reduced_sum(call, function(below, "exp"), channels, true);
  call.give(from.with_node(merged(call, "subtract", {below, function(sum, "log")}).node));
}

void convert_dropout(Call& call) {
  if (call.is_constant(0)) return call.give(call.value(0));
  const View& x = call.view(0);
  double rate = call.number("ratio", 0.5);
  if (call.has(1)) rate = call.constant(1, "ratio").scalar().value_or(0.5F);
  if (call.wants(1)) call.refuse("gives its mask, which Convoke does not");
  if (rate <= 0 || rate >= 1) return call.give(x);
  call.give(call.elementwise(x, {{"layer", "dropout"}, {"rate", rate}}));
}

}  // namespace

// A layer of the table of plain layers.
void convert_plain(Call& call) {
  const PlainLayer& layer = *find_named(plain_layers(), call.node().op, &PlainLayer::onnx);
  Settings settings{{"layer", layer.name}};
  if (const PlainLayer::Number& number = layer.number; !number.name.empty())
    settings.set(number.name, call.number(std::string(number.onnx), *number.onnx_default));
  call.give(call.elementwise(call.view(0), settings));
}

void convert_recognized_activation(Call& call) {
  const std::string_view op = call.node().op;
  call.give(apply(call, call.view(0), op == "Relu6" ? "relu6" : op == "Silu" ? "silu" : "hard_sigmoid"));
}

const std::initializer_list<Operator> kActivationOperators{
    Operator{"Celu", convert_celu},
    Operator{"Clip", convert_clip},
    Operator{"Dropout", convert_dropout, true},
    Operator{"Gelu", convert_gelu},
    Operator{"HardSigmoid", convert_hard_sigmoid},
    Operator{"LeakyRelu", convert_leaky_relu},
    Operator{"LogSoftmax", convert_log_softmax},
    Operator{"Mish", convert_mish},
    Operator{"PRelu", convert_prelu},
    Operator{"Selu", convert_selu},
    Operator{"Softmax", convert_softmax},
    Operator{"Swish", convert_swish},
};

}  // namespace convoke::interop::onnx
