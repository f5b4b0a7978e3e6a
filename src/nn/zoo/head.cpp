#include "nn/zoo/head.hpp"

#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/pool.hpp"

namespace convoke::nn {

Symbol head(Symbol features, const ZooOptions& options, const Initializers& initializers) {
  if (!options.head) return features;
  return apply(Dense({.units = options.classes, .initializers = initializers}), features, "predictions");
}

Symbol kaiming_conv(Symbol x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                    std::string name) {
  return apply(Conv2d({.filters = filters,
                       .kernel = kernel,
                       .stride = stride,
                       .padding = Padding::by((kernel - 1) / 2),
                       .bias = false,
                       .initializers = {.weight = "kaiming_normal"}}),
               x, std::move(name));
}

Symbol pooled_to(Symbol x, std::int64_t size) {
  const bool fits = shape_of(x)[1] == size && shape_of(x)[2] == size;
  return fits ? x : adaptive_average_pool(x, size);
}

}  // namespace convoke::nn
