#include "convoke/nn/layers/activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/elementwise.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/per_channel.hpp"
#include "convoke/nn/layers/softmax.hpp"
#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

using Function = nn::Activation::Function;

struct Named {
  std::string_view op;
  Function function;
  double alpha = 0;  ///< if the node does not say
};
constexpr std::array kActivations{Named{"Relu", Function::kRelu},
                                  Named{"Relu6", Function::kRelu6},
                                  Named{"LeakyRelu", Function::kLeakyRelu, 0.01},
                                  Named{"Elu", Function::kElu, 1},
                                  Named{"Selu", Function::kSelu},
                                  Named{"Gelu", Function::kGelu},
                                  Named{"Silu", Function::kSilu},
                                  Named{"Swish", Function::kSilu, 1},
                                  Named{"HardSwish", Function::kHardSwish},
                                  Named{"HardSigmoid6", Function::kHardSigmoid},
                                  Named{"Softplus", Function::kSoftplus},
                                  Named{"Sigmoid", Function::kSigmoid},
                                  Named{"Tanh", Function::kTanh}};

View apply(Call& call, const View& x, Function function, double alpha = 0) {
  return call.elementwise(x, std::make_shared<nn::Activation>(function, nn::ActivationOptions{alpha, alpha}));
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b)); }

}  // namespace

void convert_activation(Call& call) {
  const Named* named = nullptr;
  for (const Named& candidate : kActivations) {
    if (candidate.op == call.node().op) named = &candidate;
  }
  const bool tanh_form = call.text("approximate", "none") == "tanh";
  const double alpha = call.number("alpha", named->alpha);
  if (named->op == "Swish" && !near(alpha, 1)) {  // x sigmoid(alpha x) = silu(alpha x) / alpha
    return call.give(
        rescaled(call, apply(call, rescaled(call, call.view(0), alpha, 0), Function::kSilu), 1 / alpha, 0));
  }
  if (named->op == "LeakyRelu" && alpha < 0) {  // x > 0 ? x : a x = relu(x) - a relu(-x)
    const View& x = call.view(0);
    const View positive = apply(call, x, Function::kRelu);
    const View negative = apply(call, rescaled(call, x, -1, 0), Function::kRelu);
    const View scaled = rescaled(call, negative, -alpha, 0);
    return call.give(positive.with_node(call.add(std::make_shared<nn::Add>(), {positive.node, scaled.node})));
  }
  if (named->op == "Selu" &&
      !(near(call.number("alpha", 1.67326), 1.67326) && near(call.number("gamma", 1.0507), 1.0507))) {
    const double gamma = call.number("gamma", 1.0507);  // gamma elu(x)
    return call.give(
        rescaled(call, apply(call, call.view(0), Function::kElu, call.number("alpha", 1.67326)), gamma, 0));
  }
  call.give(call.elementwise(
      call.view(0),
      std::make_shared<nn::Activation>(named->function, nn::ActivationOptions{alpha, alpha, tanh_form})));
}

// max(0, min(1, alpha x + beta)); ours is h(x) = max(0, min(1, x / 6 + 1 / 2))
void convert_hard_sigmoid(Call& call) {
  const double alpha = call.number("alpha", 0.2), beta = call.number("beta", 0.5);
  View x = call.view(0);
  if (!near(alpha, 1.0 / 6) || !near(beta, 0.5)) x = rescaled(call, x, 6 * alpha, 6 * beta - 3);
  call.give(apply(call, x, Function::kHardSigmoid));
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1)) = alpha elu(x / alpha)
void convert_celu(Call& call) {
  const double alpha = call.number("alpha", 1);
  if (alpha == 0) call.refuse("has alpha = 0");
  const View inside = rescaled(call, call.view(0), 1 / alpha, 0);
  call.give(rescaled(call, apply(call, inside, Function::kElu, 1), alpha, 0));
}

// x tanh(softplus(x)): D. Misra, "Mish", BMVC 2020
void convert_mish(Call& call) {
  const View& x = call.view(0);
  const View gate = apply(call, apply(call, x, Function::kSoftplus), Function::kTanh);
  call.give(x.with_node(call.add(std::make_shared<nn::Multiply>(), {x.node, gate.node})));
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
    const std::size_t node = call.add(std::make_shared<nn::PRelu>(), {from.node}, &slope);
    call.builder().give(node, "alpha",
                        std::vector<float>(static_cast<std::size_t>(count), slope.scalar().value_or(0)));
    if (count > 1)
      call.builder().note("A PRelu with one slope gets one for each channel, all equal at first.");
    return call.give(from.with_node(node));
  }
  const View from = with_channels(call.builder(), x, atoms_of(x, axes));
  const std::size_t node = call.add(std::make_shared<nn::PRelu>(), {from.node}, &slope);
  call.import().give(node, "alpha", slope.reshaped({slope.shape.elements()}));
  call.give(from.with_node(node));
}

namespace {

/// Returns max(low, min(x, high)) by relu or relu6.
View clipped(Call& call, const View& x, double low, double high) {
  constexpr double kOpen = 1e30;
  if (low <= -kOpen && high >= kOpen) return x;
  if (high >= kOpen) {  // relu(x - low) + low
    if (low == 0) return apply(call, x, Function::kRelu);
    return rescaled(call, apply(call, rescaled(call, x, 1, -low), Function::kRelu), 1, low);
  }
  if (low <= -kOpen) {  // high - relu(high - x)
    return rescaled(call, apply(call, rescaled(call, x, -1, high), Function::kRelu), -1, high);
  }
  if (low == 0 && high == 6) return apply(call, x, Function::kRelu6);
  if (!(high > low)) call.refuse(fmt::format("clips to the empty range from {} to {}", low, high));
  const double scale = (high - low) / 6;
  return rescaled(call, apply(call, rescaled(call, x, 1 / scale, -low / scale), Function::kRelu6), scale,
                  low);
}

}  // namespace

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

namespace {

/// Returns the axes over which a Softmax or LogSoftmax sums.
std::vector<std::size_t> summed_axes(Call& call) {
  const View& x = call.view(0);
  const std::size_t first = call.axis(call.integer("axis", call.opset() < 13 ? 1 : -1), x.rank());
  std::vector<std::size_t> axes{first};
  if (call.opset() < 13 && !call.is_recognised()) {  // over all axes from this one on
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

}  // namespace

void convert_softmax(Call& call) {
  const View& x = call.view(0);
  const std::vector<std::size_t> axes = summed_axes(call);
  std::vector<Dim> sums = x.dims();
  for (const std::size_t axis : axes) sums[axis] = Dim{1};
  call.expect_shape(1, sums);
  const View from = with_channels(call.builder(), x, atoms_of(x, axes));
  call.give(call.elementwise(from, std::make_shared<nn::Softmax>()));
}

// The log of a softmax. At the end of a network it is left out if it is over all values of a sample.
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
  const View softmax = call.elementwise(from, std::make_shared<nn::Softmax>());
  call.give(call.elementwise(
      softmax, std::make_shared<nn::Elementwise>(nn::ElementwiseOptions{.function = "log", .operands = {}})));
}

void convert_dropout(Call& call) {
  const View& x = call.view(0);
  double rate = call.number("ratio", 0.5);
  if (call.has(1)) rate = call.constant(1, "ratio").scalar().value_or(0.5F);
  if (call.wants(1)) call.refuse("gives its mask, which Convoke does not");
  if (rate <= 0 || rate >= 1) return call.give(x);
  call.give(call.elementwise(x, std::make_shared<nn::Dropout>(nn::DropoutOptions{.rate = rate})));
}

}  // namespace convoke::interop::onnx
