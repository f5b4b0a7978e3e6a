#include "nn/zoo/zoo.hpp"

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {

Symbol leaf_cnn(Symbol x, const ZooOptions& options) {
  for (const std::int64_t filters : {32, 64, 128}) {
    x = max_pool(relu(conv2d(x, {.filters = filters, .kernel = 3, .padding = Padding::same()})));
  }
  x = relu(dense(flatten(x), {.units = 128}));
  return head(x, options);
}

Symbol nn_twins(Symbol x, const ZooOptions& options) {
  const Initializers normal{.weight = "normal"};
  x = relu(dense(x, {.units = 5, .initializers = normal}));
  x = relu(dense(x, {.units = 5, .initializers = normal}));
  return head(x, options, normal);
}

Symbol imdb_lstm(Symbol x, const ZooOptions& options) {
  const Initializers uniform{.weight = "uniform"};
  x = embedding(x, {.vocabulary = 20000, .units = 128});
  x = lstm(x, {.units = 128, .dropout = 0.2});
  x = relu(dense(x, {.units = 128, .initializers = uniform}));
  x = relu(dense(x, {.units = 64, .initializers = uniform}));
  return head(x, options, uniform);
}

Symbol birds(Symbol x, const ZooOptions& options) {
  struct Part {
    std::int64_t units;
    double dropout;
    const char *dense, *norm;
  };
  static constexpr std::array kHead{Part{1024, 0.4, "head.dense1", "head.norm1"},
                                    Part{512, 0.3, "head.dense2", "head.norm2"},
                                    Part{256, 0.2, "head.dense3", "head.norm3"}};
  x = global_average_pool(efficientnet_keras_features(x, 5));
  if (!options.head) return x;
  for (const Part& part : kHead) {
    x = relu(apply(Dense({.units = part.units}), x, part.dense));
    x = dropout(apply(BatchNorm(), x, part.norm), part.dropout);
  }
  return head(x, options);
}

Symbol retina(Symbol x, const ZooOptions& options) {
  x = global_average_pool(inception_v3_features(x));
  if (!options.head) return x;
  return head(relu(apply(Dense({.units = 1024}), x, "head.dense1")), options);
}

}  // namespace convoke::nn
