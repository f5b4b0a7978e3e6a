#include "nn/zoo/zoo.hpp"

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

const Initializers& alexnet_initializers() {
  static const Initializers pytorch{.weight = "torch_default", .bias = "torch_default"};
  return pytorch;
}

struct Convolution {
  std::int64_t filters, kernel, stride, padding;
};

Symbol alexnet_conv_relu(Symbol x, const Convolution& c, const std::string& name) {
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

}  // namespace convoke::nn
