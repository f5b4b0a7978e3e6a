#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

Symbol conv_relu(Symbol x, const Conv2dOptions& convolution, const std::string& name) {
  return relu(apply(Conv2d(convolution), x, name));
}

/// 1x1 to `squeeze` channels, then `expand` by 1x1 and `expand` by 3x3, concatenated. `place`: position in
/// torchvision's list.
Symbol fire(Symbol x, std::int64_t squeeze, std::int64_t expand, int place) {
  const std::string block = fmt::format("features.{}", place);
  const Initializers start{.weight = "he_uniform"};
  x = conv_relu(x, {.filters = squeeze, .kernel = 1, .initializers = start}, block + ".squeeze");
  const Symbol narrow =
      conv_relu(x, {.filters = expand, .kernel = 1, .initializers = start}, block + ".expand1x1");
  const Symbol wide =
      conv_relu(x, {.filters = expand, .kernel = 3, .padding = Padding::by(1), .initializers = start},
                block + ".expand3x3");
  return concat({narrow, wide});
}

Symbol shrink(Symbol x) { return max_pool(x, {.size = 3, .stride = 2, .ceil = true}); }

Symbol convolutional_head(Symbol x, const ZooOptions& options) {
  if (options.head) {
    const Initializer start(Settings{{"name", "normal"}, {"stddev", 0.01}});
    x = conv_relu(dropout(x, 0.5),
                  {.filters = options.classes, .kernel = 1, .initializers = {.weight = start}},
                  "predictions");
  }
  return global_average_pool(x);
}

/// `pools`: positions of the poolings in torchvision's list; the fire modules have the others from 2 on.
Symbol squeezenet(Symbol x, const ZooOptions& options, std::int64_t filters, std::int64_t kernel,
                  const std::array<int, 3>& pools) {
  x = conv_relu(x,
                {.filters = filters, .kernel = kernel, .stride = 2, .initializers = {.weight = "he_uniform"}},
                "features.0");
  int place = 2;
  for (const std::int64_t squeeze : {16, 16, 32, 32, 48, 48, 64, 64}) {
    if (std::ranges::find(pools, place) != pools.end()) {
      x = shrink(x);
      ++place;
    }
    x = fire(x, squeeze, 4 * squeeze, place++);
  }
  return convolutional_head(x, options);
}

}  // namespace

Symbol squeezenet1_0(Symbol x, const ZooOptions& options) {
  return squeezenet(x, options, 96, 7, {2, 6, 11});
}
Symbol squeezenet1_1(Symbol x, const ZooOptions& options) { return squeezenet(x, options, 64, 3, {2, 5, 8}); }

}  // namespace convoke::nn
