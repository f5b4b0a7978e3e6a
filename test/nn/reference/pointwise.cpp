#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "convoke/core/random.hpp"
#include "reference/layer.hpp"

namespace reference {
namespace {

/// y[i] = f(x[i], i)
template <class F>
Values each(const Call& call, const F& f) {
  Values y = call.x();
  for (std::int64_t i = 0; i < y.size(); ++i) y[i] = f(y[i], i);
  return y;
}

/// y[i] = f(x[i])
template <double (*f)(double)>
Values curve(const Call& call) {
  return each(call, [](double x, std::int64_t) { return f(x); });
}

std::size_t channel_of(const Values& x, std::int64_t i) {
  return static_cast<std::size_t>(Axes(x.shape).channel(i));
}

double clamp6(double x) { return std::min(std::max(x, 0.0), 6.0); }

convoke::PhiloxCounter words_of(const Call& call, std::uint32_t first, std::int64_t sample) {
  return convoke::philox4x32({first, static_cast<std::uint32_t>(call.node.index),
                              call.key.samples[static_cast<std::size_t>(sample)], call.repeat(sample)},
                             convoke::philox_key(call.key.seed, convoke::Purpose::kDropout, call.key.epoch));
}

Values channel_scale(const Call& call) {
  const std::vector<double>& gamma = call.parameter("gamma");
  return each(call, [&](double x, std::int64_t i) { return gamma[channel_of(call.x(), i)] * x; });
}

Values elu(const Call& call) {
  const double alpha = call.number("alpha");
  return each(call, [&](double x, std::int64_t) { return x > 0 ? x : alpha * std::expm1(x); });
}

Values elementwise(const Call& call) {
  const std::string name = call.text("function");
  const auto numbers =
      convoke::SettingsReader(call.settings, "reference").get("operands", std::vector<std::string>{});
  Values y{call.x().samples, call.node.shape};
  for (std::int64_t i = 0; i < y.size(); ++i) {
    std::vector<double> x;
    std::size_t next = 0;
    for (const std::string& number : numbers)
      x.push_back(number == "x" ? call.inputs[next++][i] : std::stod(number));
    if (numbers.empty()) {
      for (const Values& input : call.inputs) x.push_back(input[i]);
    }
    y[i] = name == "abs"        ? std::abs(x[0])
           : name == "ceil"     ? std::ceil(x[0])
           : name == "cos"      ? std::cos(x[0])
           : name == "divide"   ? x[0] / x[1]
           : name == "equal"    ? x[0] == x[1]
           : name == "erf"      ? 1 - std::erfc(x[0])
           : name == "exp"      ? std::exp(x[0])
           : name == "greater"  ? x[0] > x[1]
           : name == "log"      ? std::log(x[0])
           : name == "maximum"  ? std::max(x[0], x[1])
           : name == "minimum"  ? std::min(x[0], x[1])
           : name == "power"    ? std::pow(x[0], x[1])
           : name == "sin"      ? std::sin(x[0])
           : name == "sqrt"     ? std::sqrt(x[0])
           : name == "subtract" ? x[0] - x[1]
           : name == "where"    ? (x[0] != 0 ? x[1] : x[2])
                                : std::numeric_limits<double>::quiet_NaN();
  }
  return y;
}

Values gelu(const Call& call) {
  const bool approximate = call.flag("approximate");
  return each(call, [&](double x, std::int64_t) {
    if (!approximate) return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  });
}

double hard_sigmoid(double x) { return clamp6(x + 3) / 6; }
double hard_swish(double x) { return x * clamp6(x + 3) / 6; }

Values leaky_relu(const Call& call) {
  const double slope = call.number("negative_slope");
  return each(call, [&](double x, std::int64_t) { return x > 0 ? x : slope * x; });
}

Values prelu(const Call& call) {
  const std::vector<double>& alpha = call.parameter("alpha");
  return each(call, [&](double x, std::int64_t i) { return x > 0 ? x : alpha[channel_of(call.x(), i)] * x; });
}

double selu(double x) {
  constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
  return kScale * (x > 0 ? x : kAlpha * std::expm1(x));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x / (1 + std::exp(-x)); }
double softplus(double x) { return std::log(1 + std::exp(x)); }
double tanh(double x) { return std::tanh(x); }

Values rescale(const Call& call) {
  const double scale = call.number("scale"), offset = call.number("offset");
  return each(call, [&](double x, std::int64_t) { return scale * x + offset; });
}

Values standardize(const Call& call) {
  convoke::SettingsReader read(call.settings, "reference");
  const auto mean = read.get("mean", std::vector<double>{}), variance = read.get("variance", mean);
  return each(call, [&](double x, std::int64_t i) {
    const std::size_t c = mean.size() == 1 ? 0 : channel_of(call.x(), i);
    return (x - mean[c]) / std::sqrt(variance[c]);
  });
}

// Element e = position * C + channel uses number e % 4 of counter e / 4, by the method of Box and Muller. A
// flattened image counts as an image.
Values gaussian_noise(const Call& call) {
  if (!call.training) return call.x();
  const Node* source = &call.graph.node(call.node.inputs[0]);
  if (source->layer != nullptr && source->layer->type() == "flatten")
    source = &call.graph.node(source->inputs[0]);
  const Shape& shape = source->shape;
  const bool sequence = shape.rank() == 2;
  const double stddev = call.number("stddev");
  const std::int64_t count = shape.elements(), positions = sequence ? 1 : count / shape[0];
  return each(call, [&](double x, std::int64_t i) {
    const std::int64_t within = i % count;
    const std::int64_t e = sequence ? within : within % positions * shape[0] + within / positions;
    const convoke::PhiloxCounter words = words_of(call, static_cast<std::uint32_t>(e / 4), i / count);
    const std::size_t pair = e % 4 < 2 ? 0 : 2;
    const double radius = std::sqrt(-2 * std::log((words[pair] + 1.0) / 4294967296.0));
    const double angle = 2 * std::numbers::pi * words[pair + 1] / 4294967296.0;
    return x + stddev * radius * (e % 2 == 0 ? std::cos(angle) : std::sin(angle));
  });
}

Values stochastic_depth(const Call& call) {
  if (!call.training) return call.x();
  const double rate = call.number("rate");
  return each(call, [&](double x, std::int64_t i) {
    const bool keep = words_of(call, 0, i / call.node.shape.elements())[0] >= rate * 4294967296.0;
    return keep ? x / (1 - rate) : 0;
  });
}

// Element e = pixel * C + channel of a sample uses word e / 16 % 4 of the Philox counter (e / 64 * 16 + e %
// 16, node, sample, 0), and is dropped if it is below rate * 2^32. A flattened image counts as an image.
void dropout(const Call& call, const AddProduct& add) {
  const Node* image = &call.node;
  while (image->shape.rank() == 1 && image->layer != nullptr) {
    const std::string_view type = image->layer->type();
    if (type != "flatten" && type != "dropout" && type != "add" && type != "relu" && type != "sigmoid" &&
        type != "tanh")
      break;
    image = &call.graph.node(image->inputs[0]);
  }
  // With `spatial`, the channel alone decides for all its elements.
  const bool spatial = call.flag("spatial");
  const Axes axes(image->shape);
  const double rate = call.number("rate");
  const std::int64_t count = image->shape.elements();
  for (std::int64_t i = 0; i < call.x().size(); ++i) {
    const std::int64_t within = i % count, c = axes.channel(within);
    const std::int64_t position = axes.sequence ? within / axes.channels : within % axes.positions;
    const auto e = static_cast<std::uint32_t>(spatial ? c : position * axes.channels + c);
    const bool keep =
        !call.training || words_of(call, e / 64 * 16 + e % 16, i / count)[e / 16 % 4] >= rate * 0x1p32;
    add({i, i, -1, !keep ? 0 : call.training ? 1 / (1 - rate) : 1});
  }
}

void relu(const Call& call, const AddProduct& add) {
  for (std::int64_t i = 0; i < call.x().size(); ++i) add({i, i, -1, call.x()[i] > 0 ? 1.0 : 0.0});
}

}  // namespace

std::span<const LayerEntry> pointwise_layers() {
  static constexpr std::array kLayers{
      LayerEntry{.type = "channel_scale", .forward = channel_scale, .element_wise = true},
      LayerEntry{.type = "dropout", .products = dropout},
      LayerEntry{.type = "elementwise", .forward = elementwise, .element_wise = true},
      LayerEntry{.type = "elu", .forward = elu, .element_wise = true},
      LayerEntry{.type = "gaussian_noise", .forward = gaussian_noise, .element_wise = true},
      LayerEntry{.type = "gelu", .forward = gelu, .element_wise = true},
      LayerEntry{.type = "hard_sigmoid", .forward = curve<hard_sigmoid>, .element_wise = true},
      LayerEntry{.type = "hard_swish", .forward = curve<hard_swish>, .element_wise = true},
      LayerEntry{.type = "leaky_relu", .forward = leaky_relu, .element_wise = true},
      LayerEntry{.type = "prelu", .forward = prelu, .element_wise = true},
      LayerEntry{.type = "relu", .products = relu},
      LayerEntry{.type = "relu6", .forward = curve<clamp6>, .element_wise = true},
      LayerEntry{.type = "rescale", .forward = rescale, .element_wise = true},
      LayerEntry{.type = "selu", .forward = curve<selu>, .element_wise = true},
      LayerEntry{.type = "sigmoid", .forward = curve<sigmoid>, .element_wise = true},
      LayerEntry{.type = "silu", .forward = curve<silu>, .element_wise = true},
      LayerEntry{.type = "softplus", .forward = curve<softplus>, .element_wise = true},
      LayerEntry{.type = "standardize", .forward = standardize, .element_wise = true},
      LayerEntry{.type = "stochastic_depth", .forward = stochastic_depth, .element_wise = true},
      LayerEntry{.type = "tanh", .forward = curve<tanh>, .element_wise = true},
  };
  return kLayers;
}

}  // namespace reference
