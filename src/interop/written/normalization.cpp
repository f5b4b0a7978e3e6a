#include <algorithm>
#include <cmath>

#include "interop/keras/composition.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/emission.hpp"

// How normalizations, learned or fixed, are written.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

std::vector<float> repeated(std::int64_t count, float value) {
  return std::vector<float>(static_cast<std::size_t>(count), value);
}

// gamma and beta under PyTorch's names; ones and zeroes if the layer has none.
std::string gamma_of(Emission& e, const Shape& shape) {
  if (e.settings.flag("scale")) return e.weight("gamma", "weight", shape);
  return e.made_weight("weight", shape, [n = shape.elements()] { return repeated(n, 1); });
}
std::string beta_of(Emission& e, const Shape& shape) {
  if (e.settings.flag("center")) return e.weight("beta", "bias", shape);
  return e.made_weight("bias", shape, [n = shape.elements()] { return repeated(n, 0); });
}

OnnxAttribute epsilon_of(const Emission& e) {
  return {"epsilon", static_cast<float>(e.settings.number("epsilon"))};
}

void emit_batch_norm(Emission& e) {
  const Shape shape{e.channels()};
  e.result_channels_first(
      "BatchNormalization",
      {e.channels_first(), gamma_of(e, shape), beta_of(e, shape),
       e.weight("running_mean", "running_mean", shape), e.weight("running_variance", "running_var", shape)},
      {epsilon_of(e)});
}

void emit_channel_scale(Emission& e) {
  e.result("Mul", {e.input(), e.weight("gamma", "weight", e.per_channel())});
}

// The channels of a group become pixels of one instance: (N, C, H, W) -> (N, groups, rest), as PyTorch's
// exporter writes it (GroupNormalization is younger than our opset).
void emit_group_norm(Emission& e) {
  const std::int64_t groups = e.settings.integer("groups");
  std::vector<std::int64_t> sample = e.input_shape().extents();
  const bool sequence = sample.size() == 2;
  if (sequence) std::swap(sample[0], sample[1]);
  const std::string grouped = e.reshape(e.channels_first(), {groups, -1});
  const std::string normal = e.op("InstanceNormalization",
                                  {grouped, e.constant("ones", {groups}, [=] { return repeated(groups, 1); }),
                                   e.constant("zeros", {groups}, [=] { return repeated(groups, 0); })},
                                  {epsilon_of(e)});
  const Shape shape = sample.size() == 3 ? Shape{sample[0], 1, 1}
                      : sequence         ? Shape{sample[0], 1}
                                         : Shape{sample[0]};
  const std::string scaled = e.op("Mul", {e.reshape(normal, sample), gamma_of(e, shape)});
  e.result_channels_first("Add", {scaled, beta_of(e, shape)});
}

void emit_layer_norm(Emission& e) {
  const Shape shape{e.channels()};
  const OnnxAttributes attributes{{"axis", std::int64_t{-1}}, epsilon_of(e)};
  std::vector<std::string> inputs{e.input(), gamma_of(e, shape), beta_of(e, shape)};
  if (e.input_shape().rank() != 3) return e.result("LayerNormalization", std::move(inputs), attributes);
  inputs[0] = e.op("Transpose", {e.input()}, {{"perm", Integers{0, 2, 3, 1}}});
  e.result("Transpose", {e.op("LayerNormalization", std::move(inputs), attributes)},
           {{"perm", Integers{0, 3, 1, 2}}});
}

// y = x (k + alpha / size sum x^2)^-beta. An even window's extra channel is before the center here and in
// PyTorch, but behind it in ONNX's LRN: then a 1 x 1 convolution sums the squares.
void emit_local_response_norm(Emission& e) {
  const std::int64_t size = e.settings.integer("size"), channels = e.channels();
  const double alpha = e.settings.number("alpha"), beta = e.settings.number("beta");
  const double k = e.settings.number("k");
  if (size % 2 == 1) {
    return e.result("LRN", {e.input()},
                    {{"alpha", static_cast<float>(alpha)},
                     {"beta", static_cast<float>(beta)},
                     {"bias", static_cast<float>(k)},
                     {"size", size}});
  }
  const auto band = [=] {
    std::vector<float> matrix = repeated(channels * channels, 0);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t last = std::min(channels - 1, c + (size - 1) / 2);
      for (std::int64_t i = std::max<std::int64_t>(0, c - size / 2); i <= last; ++i) {
        matrix[static_cast<std::size_t>(c * channels + i)] =
            static_cast<float>(alpha / static_cast<double>(size));
      }
    }
    return matrix;
  };
  const std::string sums = e.op(
      "Conv", {e.op("Mul", {e.input(), e.input()}), e.constant("window", {channels, channels, 1, 1}, band)},
      {{"kernel_shape", Integers{1, 1}}});
  const std::string divisor = e.op("Pow", {e.op("Add", {sums, e.scalar(k)}), e.scalar(beta)});
  e.result("Div", {e.input(), divisor});
}

void emit_rescale(Emission& e) {
  const std::string scaled = e.op("Mul", {e.input(), e.scalar(e.settings.number("scale"))});
  e.result("Add", {scaled, e.scalar(e.settings.number("offset"))});
}

void emit_standardize(Emission& e) {
  const auto mean = e.settings.numbers("mean"), variance = e.settings.numbers("variance");
  const Shape shape = mean.size() == 1 ? Shape{1} : e.per_channel();
  const auto means = e.constant("mean", shape, [=] { return std::vector<float>(mean.begin(), mean.end()); });
  const auto deviations = e.constant("deviation", shape, [=] {
    std::vector<float> values;
    for (const double v : variance) values.push_back(static_cast<float>(std::sqrt(v)));
    return values;
  });
  e.result("Div", {e.op("Sub", {e.input(), means}), deviations});
}

// epsilon, center and scale of a normalization over the last axis.
Json norm_config(const Composition& c) {
  return {{"axis", -1},
          {"epsilon", c.settings.number("epsilon")},
          {"center", c.settings.flag("center")},
          {"scale", c.settings.flag("scale")}};
}

KerasTensor compose_batch_norm(Composition& c) {
  Json config = norm_config(c);
  config["momentum"] = c.settings.number("momentum");
  return c.weighted("", "BatchNormalization", std::move(config), c.weights(), c.input(), c.output());
}

// A factor for each channel is a depthwise convolution by single pixels.
KerasTensor compose_channel_scale(Composition& c) {
  const std::int64_t channels = c.channels();
  const Shape shape = c.output();
  const bool image = shape.rank() == 3;
  const Shape as_image = image ? shape : Shape{shape.rank() == 2 ? shape[0] : 1, 1, channels};
  const KerasTensor x = image ? c.input() : c.reshape("image", c.input(), as_image);
  const Json config{{"kernel_size", Json::array({1, 1})}, {"use_bias", false}};
  KerasWeight kernel = c.weights()[0];
  kernel.name = "depthwise_kernel";
  kernel.shape = {1, 1, channels, 1};
  const KerasTensor scaled = c.weighted("", "DepthwiseConv2D", config, {kernel}, x, as_image);
  return image ? scaled : c.reshape("scaled", scaled, shape);
}

KerasTensor compose_group_norm(Composition& c) {
  Json config = norm_config(c);
  config["groups"] = c.settings.integer("groups");
  return c.weighted("", "GroupNormalization", std::move(config), c.weights(), c.input(), c.output());
}

KerasTensor compose_layer_norm(Composition& c) {
  return c.weighted("", "LayerNormalization", norm_config(c), c.weights(), c.input(), c.output());
}

KerasTensor compose_rescale(Composition& c) {
  return c.layer("", "Rescaling",
                 {{"scale", c.settings.number("scale")}, {"offset", c.settings.number("offset")}}, c.input(),
                 c.output());
}

KerasTensor compose_standardize(Composition& c) {
  auto mean = c.settings.numbers("mean"), variance = c.settings.numbers("variance");
  mean.resize(static_cast<std::size_t>(c.channels()), mean.back());
  variance.resize(static_cast<std::size_t>(c.channels()), variance.back());
  return c.layer("", "Normalization", normalization_config({mean, variance}), c.input(), c.output());
}

}  // namespace

const std::initializer_list<WrittenLayer> kWrittenNormalizations{
    WrittenLayer{"batch_norm", emit_batch_norm, compose_batch_norm},
    WrittenLayer{"channel_scale", emit_channel_scale, compose_channel_scale},
    WrittenLayer{"group_norm", emit_group_norm, compose_group_norm},
    WrittenLayer{"layer_norm", emit_layer_norm, compose_layer_norm},
    WrittenLayer{"local_response_norm", emit_local_response_norm, refuse_layer},
    WrittenLayer{"rescale", emit_rescale, compose_rescale},
    WrittenLayer{"standardize", emit_standardize, compose_standardize},
};

}  // namespace convoke::interop
