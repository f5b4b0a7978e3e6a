#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "nn/zoo/inverted_residual.hpp"

namespace convoke::nn {
namespace {

/// A stage of B0: `blocks` inverted residuals with `filters` channels, the first with `stride`.
struct EfficientNetStage {
  std::int64_t expansion, kernel, stride, filters;
  int blocks;
};
constexpr std::array kEfficientNetStages{
    EfficientNetStage{1, 3, 1, 16, 1},  EfficientNetStage{6, 3, 2, 24, 2},
    EfficientNetStage{6, 5, 2, 40, 2},  EfficientNetStage{6, 3, 2, 80, 3},
    EfficientNetStage{6, 5, 1, 112, 3}, EfficientNetStage{6, 5, 2, 192, 4},
    EfficientNetStage{6, 3, 1, 320, 1},
};

/// The scaling to B1 .. B7: channels times `width`, blocks times `depth`.
struct Scale {
  double width, depth, dropout;
  BatchNormOptions norm;
};
const BatchNormOptions kTorch{.momentum = 0.9, .epsilon = 1e-5};
const BatchNormOptions kPaper{.momentum = 0.99, .epsilon = 1e-3};
const std::array<Scale, 8> kScales{{
    {1.0, 1.0, 0.2, kTorch},
    {1.0, 1.1, 0.2, kTorch},
    {1.1, 1.2, 0.3, kTorch},
    {1.2, 1.4, 0.3, kTorch},
    {1.4, 1.8, 0.4, kTorch},
    {1.6, 2.2, 0.4, kPaper},
    {1.8, 2.6, 0.5, kPaper},
    {2.0, 3.1, 0.5, kPaper},
}};
constexpr double kEfficientNetLastDrop = 0.2;  // stochastic depth rises linearly from 0 towards it

std::int64_t channels(const Scale& scale, std::int64_t of_b0) {
  return multiple_of_8(static_cast<double>(of_b0) * scale.width);
}

int blocks(const Scale& scale, const EfficientNetStage& stage) {
  return static_cast<int>(std::ceil(stage.blocks * scale.depth));
}

Symbol efficientnet_features(Symbol x, const Scale& scale) {
  int all = 0;
  for (const EfficientNetStage& stage : kEfficientNetStages) all += blocks(scale, stage);
  x = conv_norm(
      x, {.filters = channels(scale, 32), .kernel = 3, .stride = 2, .activation = silu, .norm = scale.norm},
      "features.0");
  int done = 0, part = 1;
  for (const EfficientNetStage& stage : kEfficientNetStages) {
    for (int i = 0; i < blocks(scale, stage); ++i, ++done) {
      const std::int64_t in = shape_of(x)[0];
      const std::int64_t squeezed = std::max<std::int64_t>(1, in / 4);
      x = inverted_residual(x,
                            {.kernel = stage.kernel,
                             .expanded = multiple_of_8(static_cast<double>(in * stage.expansion)),
                             .filters = channels(scale, stage.filters),
                             .stride = i == 0 ? stage.stride : 1,
                             .activation = silu,
                             .excite = {.squeezed = squeezed, .activation = silu, .gate = sigmoid},
                             .drop = kEfficientNetLastDrop * done / all,
                             .norm = scale.norm},
                            fmt::format("features.{}.{}.block", part, i));
    }
    ++part;
  }
  return conv_norm(x, {.filters = 4 * shape_of(x)[0], .activation = silu, .norm = scale.norm},
                   fmt::format("features.{}", part));
}

Graph efficientnet(const ZooOptions& options, std::size_t which) {
  Graph graph(options.input);
  Symbol x = global_average_pool(efficientnet_features(input(graph), kScales[which]));
  if (options.head) x = dropout(x, kScales[which].dropout);
  const double range = 1 / std::sqrt(static_cast<double>(options.classes));
  head(x, options,
       {.weight = Initializer(Settings{{"name", "uniform"}, {"minval", -range}, {"maxval", range}})});
  return graph;
}

}  // namespace

Graph efficientnet_b0(const ZooOptions& options) { return efficientnet(options, 0); }
Graph efficientnet_b1(const ZooOptions& options) { return efficientnet(options, 1); }
Graph efficientnet_b2(const ZooOptions& options) { return efficientnet(options, 2); }
Graph efficientnet_b3(const ZooOptions& options) { return efficientnet(options, 3); }
Graph efficientnet_b4(const ZooOptions& options) { return efficientnet(options, 4); }
Graph efficientnet_b5(const ZooOptions& options) { return efficientnet(options, 5); }
Graph efficientnet_b6(const ZooOptions& options) { return efficientnet(options, 6); }
Graph efficientnet_b7(const ZooOptions& options) { return efficientnet(options, 7); }

Symbol efficientnet_b5_features(Symbol x) { return efficientnet_features(x, kScales[5]); }

}  // namespace convoke::nn
