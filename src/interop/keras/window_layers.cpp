#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "interop/keras/call.hpp"

// Convolutions, dense layers and pooling.

namespace convoke::interop::keras {
namespace {

// The input, whose mask ends here.
Value sequence(const Call& call) {
  const Value x = unmasked(call.plain_input());
  require_rank(call, x, 2);
  return x;
}

// A convolution of each channel of a sequence.
Settings depthwise1d(const Call& call, const Value& x) {
  const std::int64_t features = call.shape(x)[1];
  Settings layer = settings_from(call.config(), "conv1d");
  layer.set("filters", features * call.config().whole("depth_multiplier", 1));
  layer.set("groups", features);
  return layer;
}

// Keras stores (k, F, M); the grouped convolution needs (k, 1, F M).
Tensor as_grouped(Tensor tensor) {
  if (tensor.shape.rank() == 3) tensor.shape = {tensor.shape[0], 1, tensor.shape[1] * tensor.shape[2]};
  return tensor;
}

Value convert_convolution(const Call& call) {
  const bool along = layer_of(call.options().class_name) == "conv1d";
  return call.activated(
      call.add_weighted(settings_from(call), {along ? sequence(call) : call.plain_input()}));
}

Value convert_depthwise_conv1d(const Call& call) {
  const Value x = sequence(call);
  std::vector<Tensor> tensors = call.tensors();
  if (!tensors.empty()) tensors[0] = as_grouped(tensors[0]);
  return call.activated(call.add_weighted(depthwise1d(call, x), {x}, {}, std::move(tensors)));
}

Value convert_separable_conv1d(const Call& call) {
  const Value x = sequence(call);
  std::vector<Tensor> tensors = call.tensors();
  if (tensors.size() < 2) throw Error("the file lacks its weights");
  Settings depthwise = depthwise1d(call, x);
  depthwise.set("bias", false);
  const Value y = call.add_weighted(depthwise, {x}, "depthwise", std::vector{as_grouped(tensors[0])});
  tensors.erase(tensors.begin());
  const Settings pointwise{{"layer", "conv1d"},
                           {"filters", call.config().whole("filters")},
                           {"kernel", 1},
                           {"bias", call.config().flag("use_bias", true)}};
  return call.activated(call.add_weighted(pointwise, {y}, {}, std::move(tensors)));
}

// Keras' Dense works on the last axis: of an image it is a 1 x 1 convolution.
Value convert_dense(const Call& call) {
  Value x = call.input();
  const std::int64_t units = call.config().whole("units");
  const bool bias = call.config().flag("use_bias", true);
  call.config().require_neutral("quantization_config");
  if (call.config().has("lora_rank")) call.config().refuse("lora_rank", "merge the low-rank update first");
  const std::size_t rank = call.shape(x).rank();
  if (rank == 3 && call.context().channels_first) {
    throw Error("a Dense layer on an image whose channels come first mixes its columns",
                "put GlobalAveragePooling2D or Flatten before it");
  }
  const Value y = rank == 1 ? call.add_weighted({{"layer", "dense"}, {"units", units}, {"bias", bias}}, {x})
                            : call.add_weighted({{"layer", rank == 2 ? "conv1d" : "conv2d"},
                                                 {"filters", units},
                                                 {"kernel", 1},
                                                 {"bias", bias}},
                                                {x});
  return call.activated({.node = y.node, .flattened = {}, .mask = y.mask});
}

using Setting = convoke::Value;

// The mean of the time steps whose token is not 0: mean(m x) / mean(m), where m is 1 there and 0 elsewhere.
Value masked_average(const Call& call, const Value& x) {
  const Shape in = call.shape(x);
  const auto reshaped = [&](const Value& value, const Shape& shape, std::string_view suffix) {
    return call.add(reshape_to(shape), value, suffix);
  };
  const auto mean = [&](const Value& value, std::string_view suffix) {
    return call.add({{"layer", "global_average_pool1d"}}, value, suffix);
  };
  const Value mask = mask_numbers(call, x);
  const Value sum = mean(kept_steps(call, x, mask, "sequence"), "sum");
  const Value share = mean(reshaped(mask, {in[0], 1}, "column"), "share");
  const Value factor = elementwise(call, "divide", {"1", "x"}, {share}, "factor");
  const Value scaled =
      call.add({{"layer", "multiply"}}, {reshaped(sum, {1, in[1], 1}, "row"), factor}, "scaled");
  return reshaped(scaled, {in[1]}, "");
}

Value convert_pool(const Call& call) {
  const Value x = unmasked(call.plain_input());
  return call.add(settings_from(call), x);
}

// Goes back from `node` through these layers; nothing if others are there.
std::optional<std::size_t> before(const nn::Graph& graph, std::size_t node,
                                  const std::vector<Settings>& layers) {
  for (const Settings& layer : layers) {
    const nn::Node& at = graph.node(node);
    if (at.layer == nullptr || at.layer->settings() != layer) return {};
    node = at.inputs[0];
  }
  return node;
}

// The border of an image that has numbers below all others there, as written/pooling.cpp pads for a maximum:
// x - relu(1e30 - 1e30 m); earlier versions wrote x + (1e30 m - 1e30), which graphs of TensorFlow reorder.
const nn::Node* border_below(const nn::Graph& graph, const nn::Node& image) {
  if (image.inputs.size() != 2) return nullptr;
  const nn::Node& border = graph.node(image.inputs[0]);
  if (border.layer == nullptr || border.layer->type() != "zero_pad") return nullptr;
  const bool subtracts = image.layer->type() == "subtract";
  const double scale = subtracts ? -1e30 : 1e30;
  std::vector<Settings> depth{{{"layer", "rescale"}, {"scale", scale}, {"offset", -scale}},
                              border.layer->settings(),
                              {{"layer", "rescale"}, {"scale", 0.0}, {"offset", 1.0}}};
  if (subtracts) depth.insert(depth.begin(), Settings{{"layer", "relu"}});
  const bool below = (subtracts || image.layer->type() == "add") &&
                     before(graph, image.inputs[1], depth) == border.inputs[0];
  return below ? &border : nullptr;
}

Value convert_max_pool(const Call& call) {
  Value x = unmasked(call.plain_input());
  Settings layer = settings_from(call);
  const nn::Graph& graph = call.builder().graph();
  const nn::Node* const border = border_below(graph, graph.node(x.node));
  if (border != nullptr && call.config().text("padding", "valid") == "valid") {
    layer.set("padding", *border->layer->settings().find("padding"));
    x.node = border->inputs[0];
  }
  return call.add(layer, x);
}

// A sequence (L, F) is pooled as an image (F, L, 1).
Value convert_adaptive_pool(const Call& call) {
  const std::string_view layer = layer_of(call.options().class_name);
  const Value x = unmasked(call.plain_input());
  const nn::Extent size = call.config().extent("output_size", 1);
  const auto pool = [&](const Value& image, std::int64_t height, std::int64_t width,
                        std::string_view suffix) {
    return call.add({{"layer", layer}, {"size", Setting::Array{height, width}}}, image, suffix);
  };
  const Shape in = call.shape(x);
  if (in.rank() == 3) return pool(x, size.height, size.width, "");
  const Value turned = call.add(permute_by({2, 1}), x, "features_first");
  const Value image = call.add(reshape_to({in[1], in[0], 1}), turned, "image");
  const Value pooled = pool(image, size.height, 1, "pooled");
  const Value flat = call.add(reshape_to({in[1], size.height}), pooled, "sequence");
  return call.add(permute_by({2, 1}), flat);
}

Value convert_global_pool(const Call& call) {
  const std::string_view layer = layer_of(call.options().class_name);
  const Value x = call.plain_input();
  const bool masked = x.mask && layer == "global_average_pool1d";
  const bool keeps = call.config().flag("keepdims", false);
  const Shape in = call.shape(x);
  const Value y =
      unmasked(masked ? masked_average(call, x) : call.add({{"layer", layer}}, x, keeps ? "vector" : ""));
  if (!keeps) return y;
  return call.reshaped(y, in.rank() == 2                  ? Shape{1, in[1]}
                          : call.context().channels_first ? Shape{in[0], 1, 1}
                                                          : Shape{1, 1, in[0]});
}

}  // namespace

const std::initializer_list<LayerClass> kWindowClasses{
    LayerClass{"AdaptiveAveragePooling1D", convert_adaptive_pool, "adaptive_average_pool"},
    LayerClass{"AdaptiveAveragePooling2D", convert_adaptive_pool, "adaptive_average_pool"},
    LayerClass{"AdaptiveMaxPooling1D", convert_adaptive_pool, "adaptive_max_pool"},
    LayerClass{"AdaptiveMaxPooling2D", convert_adaptive_pool, "adaptive_max_pool"},
    LayerClass{"AveragePooling1D", convert_pool, "average_pool1d"},
    LayerClass{"AveragePooling2D", convert_pool, "average_pool"},
    LayerClass{"Conv1D", convert_convolution, "conv1d"},
    LayerClass{"Conv2D", convert_convolution, "conv2d"},
    LayerClass{"Conv2DTranspose", convert_convolution, "conv2d_transpose"},
    LayerClass{"Convolution1D", convert_convolution, "conv1d"},
    LayerClass{"Convolution2D", convert_convolution, "conv2d"},
    LayerClass{"Dense", convert_dense, "dense"},
    LayerClass{"DepthwiseConv1D", convert_depthwise_conv1d},
    LayerClass{"DepthwiseConv2D", convert_convolution, "depthwise_conv2d"},
    LayerClass{"GlobalAveragePooling1D", convert_global_pool, "global_average_pool1d"},
    LayerClass{"GlobalAveragePooling2D", convert_global_pool, "global_average_pool"},
    LayerClass{"GlobalMaxPooling1D", convert_global_pool, "global_max_pool1d"},
    LayerClass{"GlobalMaxPooling2D", convert_global_pool, "global_max_pool"},
    LayerClass{"MaxPooling1D", convert_pool, "max_pool1d"},
    LayerClass{"MaxPooling2D", convert_max_pool, "max_pool"},
    LayerClass{"SeparableConv1D", convert_separable_conv1d},
    LayerClass{"SeparableConv2D", convert_convolution, "separable_conv2d"},
};

}  // namespace convoke::interop::keras
