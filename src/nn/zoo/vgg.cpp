#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

constexpr std::array<std::int64_t, 5> kWidths{64, 128, 256, 512, 512};
using VggDepths = std::array<int, 5>;  // number of 3 x 3 convolutions of each width, followed by a pooling
constexpr VggDepths kA{1, 1, 2, 2, 2}, kB{2, 2, 2, 2, 2}, kD{2, 2, 3, 3, 3}, kE{2, 2, 4, 4, 4};

enum class Norm { kNone, kBatch };

Initializers start_of_dense() {
  return {.weight = Initializer(Settings{{"name", "normal"}, {"stddev", 0.01}})};
}

Symbol vgg_features(Symbol x, const VggDepths& depths, Norm norm) {
  int place = 0;  // position in torchvision's list, which names the nodes
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      x = apply(Conv2d({.filters = kWidths[stage],
                        .kernel = 3,
                        .padding = Padding::by(1),
                        .initializers = kaiming_fan_out()}),
                x, fmt::format("features.{}", place++));
      if (norm == Norm::kBatch) {
        x = apply(BatchNorm({.momentum = 0.9, .epsilon = 1e-5}), x, fmt::format("features.{}", place++));
      }
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

Symbol vgg(Symbol x, const ZooOptions& options, const VggDepths& depths, Norm norm = Norm::kNone) {
  x = vgg_features(x, depths, norm);
  if (options.head) {
    x = hidden(flatten(pooled_to(x, 7)), "classifier.0");
    x = hidden(x, "classifier.3");
  } else {
    x = global_average_pool(x);
  }
  return head(x, options, start_of_dense());
}

}  // namespace

Symbol vgg11(Symbol x, const ZooOptions& options) { return vgg(x, options, kA); }
Symbol vgg13(Symbol x, const ZooOptions& options) { return vgg(x, options, kB); }
Symbol vgg16(Symbol x, const ZooOptions& options) { return vgg(x, options, kD); }
Symbol vgg19(Symbol x, const ZooOptions& options) { return vgg(x, options, kE); }
Symbol vgg11_bn(Symbol x, const ZooOptions& options) { return vgg(x, options, kA, Norm::kBatch); }
Symbol vgg13_bn(Symbol x, const ZooOptions& options) { return vgg(x, options, kB, Norm::kBatch); }
Symbol vgg16_bn(Symbol x, const ZooOptions& options) { return vgg(x, options, kD, Norm::kBatch); }
Symbol vgg19_bn(Symbol x, const ZooOptions& options) { return vgg(x, options, kE, Norm::kBatch); }

}  // namespace convoke::nn
