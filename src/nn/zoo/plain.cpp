#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {

Symbol lenet5(Symbol x, const ZooOptions& options) {
  // The paper centers digits of 28 x 28 in 32 x 32; here the padding of C1 does this.
  x = tanh(apply(Conv2d({.filters = 6, .kernel = 5, .padding = Padding::by(2)}), x, "c1"));
  x = average_pool(x);
  x = tanh(apply(Conv2d({.filters = 16, .kernel = 5}), x, "c3"));
  x = average_pool(x);
  x = tanh(apply(Dense({.units = 120}), flatten(x), "c5"));
  x = tanh(apply(Dense({.units = 84}), x, "f6"));
  return head(x, options);
}

namespace {

const Initializers& alexnet_initializers() {
  static const Initializers pytorch{.weight = "torch_default", .bias = "torch_default"};
  return pytorch;
}

struct AlexNetConvolution {
  std::int64_t filters, kernel, stride, padding;
};

Symbol alexnet_conv_relu(Symbol x, const AlexNetConvolution& c, const std::string& name) {
  return relu(apply(Conv2d({.filters = c.filters,
                            .kernel = c.kernel,
                            .stride = c.stride,
                            .padding = Padding::by(c.padding),
                            .initializers = alexnet_initializers()}),
                    x, name));
}

Symbol dense_relu(Symbol x, const std::string& name) {
  return relu(apply(Dense({.units = 4096, .initializers = alexnet_initializers()}), x, name));
}

}  // namespace

Symbol alexnet(Symbol x, const ZooOptions& options) {
  const PoolOptions overlapping{.size = 3, .stride = 2};
  x = max_pool(alexnet_conv_relu(x, {64, 11, 4, 2}, "features.0"), overlapping);
  x = max_pool(alexnet_conv_relu(x, {192, 5, 1, 2}, "features.3"), overlapping);
  x = alexnet_conv_relu(x, {384, 3, 1, 1}, "features.6");
  x = alexnet_conv_relu(x, {256, 3, 1, 1}, "features.8");
  x = max_pool(alexnet_conv_relu(x, {256, 3, 1, 1}, "features.10"), overlapping);
  if (options.head) {
    x = flatten(pooled_to(x, 6));
    x = dense_relu(dropout(x, 0.5), "classifier.1");
    x = dense_relu(dropout(x, 0.5), "classifier.4");
  } else {
    x = global_average_pool(x);
  }
  return head(x, options, alexnet_initializers());
}

namespace {

constexpr std::array<std::int64_t, 5> kWidths{64, 128, 256, 512, 512};
using VggDepths = std::array<int, 5>;  // number of 3 x 3 convolutions of each width, followed by a pooling

// Configurations A, B, D and E.
VggDepths vgg_depths(int layers) {
  if (layers == 11) return {1, 1, 2, 2, 2};
  if (layers == 13) return {2, 2, 2, 2, 2};
  return layers == 16 ? VggDepths{2, 2, 3, 3, 3} : VggDepths{2, 2, 4, 4, 4};
}

Initializers start_of_dense() {
  return {.weight = Initializer(Settings{{"name", "normal"}, {"stddev", 0.01}})};
}

Symbol vgg_features(Symbol x, const VggDepths& depths, bool norm) {
  int place = 0;  // position in torchvision's list, which names the nodes
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      x = apply(Conv2d({.filters = kWidths[stage],
                        .kernel = 3,
                        .padding = Padding::by(1),
                        .initializers = kaiming_fan_out()}),
                x, fmt::format("features.{}", place++));
      if (norm) x = apply(BatchNorm(kTorchNorm), x, fmt::format("features.{}", place++));
      x = relu(x);
      ++place;
    }
    x = max_pool(x);
    ++place;
  }
  return x;
}

Symbol hidden(Symbol x, const std::string& name) {
  x = relu(apply(Dense({.units = 4096, .initializers = start_of_dense()}), x, name));
  return dropout(x, 0.5);
}

}  // namespace

Symbol vgg(Symbol x, const ZooOptions& options, int layers, bool norm) {
  x = vgg_features(x, vgg_depths(layers), norm);
  if (options.head) {
    x = hidden(flatten(pooled_to(x, 7)), "classifier.0");
    x = hidden(x, "classifier.3");
  } else {
    x = global_average_pool(x);
  }
  return head(x, options, start_of_dense());
}

}  // namespace convoke::nn
