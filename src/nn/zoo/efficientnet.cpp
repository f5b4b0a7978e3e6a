#include "nn/zoo/efficientnet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "nn/zoo/zoo.hpp"

namespace convoke::nn {
namespace {

/// torchvision's batch norms: from B5 on, those of the paper's authors.
BatchNormOptions norm_of(std::size_t which) {
  if (which < 5) return {.momentum = 0.9, .epsilon = 1e-5};
  return {.momentum = 0.99, .epsilon = 1e-3};
}

Symbol efficientnet_features(Symbol x, std::size_t which) {
  const EfficientNetScale& scale = kEfficientNetScales[which];
  const BatchNormOptions norm = norm_of(which);
  const int all = scale.blocks();
  x = conv_norm(x,
                {.filters = scale.channels(32), .kernel = 3, .stride = 2, .activation = silu, .norm = norm},
                "features.0");
  int done = 0, part = 1;
  for (const EfficientNetStage& stage : kEfficientNetStages) {
    for (int i = 0; i < scale.blocks(stage); ++i, ++done) {
      const std::int64_t in = shape_of(x)[0];
      const std::int64_t squeezed = std::max<std::int64_t>(1, in / 4);
      x = inverted_residual(x,
                            {.kernel = stage.kernel,
                             .expanded = multiple_of_8(static_cast<double>(in * stage.expansion)),
                             .filters = scale.channels(stage.filters),
                             .stride = i == 0 ? stage.stride : 1,
                             .activation = silu,
                             .excite = {.squeezed = squeezed, .activation = silu, .gate = sigmoid},
                             .drop = kEfficientNetLastDrop * done / all,
                             .norm = norm},
                            fmt::format("features.{}.{}.block", part, i));
    }
    ++part;
  }
  return conv_norm(x, {.filters = 4 * shape_of(x)[0], .activation = silu, .norm = norm},
                   fmt::format("features.{}", part));
}

}  // namespace

Symbol efficientnet_top(Symbol x, const EfficientNetScale& scale, const ZooOptions& options) {
  x = global_average_pool(x);
  if (options.head) x = dropout(x, scale.dropout);
  const double range = 1 / std::sqrt(static_cast<double>(options.classes));
  return head(x, options,
              {.weight = Initializer(Settings{{"name", "uniform"}, {"minval", -range}, {"maxval", range}})});
}

Symbol efficientnet(Symbol x, const ZooOptions& options, std::size_t which) {
  return efficientnet_top(efficientnet_features(x, which), kEfficientNetScales[which], options);
}

}  // namespace convoke::nn
