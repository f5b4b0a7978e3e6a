#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

enum class At { kEach, kInside, kSecond };  // stride 1 with or without padding, or stride 2 without

Symbol inception_conv(Symbol x, std::int64_t filters, Extent kernel, At at = At::kEach) {
  return relu(batch_norm(conv2d(x, {.filters = filters,
                                    .kernel = kernel,
                                    .stride = at == At::kSecond ? 2 : 1,
                                    .padding = at == At::kEach ? Padding::same() : Padding::valid(),
                                    .bias = false}),
                         {.scale = false}));
}

Symbol halved(Symbol x) { return max_pool(x, {.size = 3, .stride = 2}); }

Symbol pooled(Symbol x, std::int64_t filters) {
  return inception_conv(average_pool(x, {.size = 3, .stride = 1, .padding = Padding::same()}), filters, 1);
}

/// Concatenates the branches of a module; the names are Keras'.
Symbol mixed(const std::vector<Symbol>& branches, const std::string& name) {
  return merge(Concat(), branches, name);
}

/// 35 x 35, figure 5: "mixed0" .. "mixed2".
Symbol block_a(Symbol x, std::int64_t pool_filters, const std::string& name) {
  const Symbol narrow = inception_conv(x, 64, 1);
  const Symbol five = inception_conv(inception_conv(x, 48, 1), 64, 5);
  const Symbol twice = inception_conv(inception_conv(inception_conv(x, 64, 1), 96, 3), 96, 3);
  return mixed({narrow, five, twice, pooled(x, pool_filters)}, name);
}

/// 35 x 35 to 17 x 17, figure 10: "mixed3".
Symbol reduction_a(Symbol x) {
  const Symbol three = inception_conv(x, 384, 3, At::kSecond);
  const Symbol twice = inception_conv(inception_conv(inception_conv(x, 64, 1), 96, 3), 96, 3, At::kSecond);
  return mixed({three, twice, halved(x)}, "mixed3");
}

/// 17 x 17, figure 6, n = 7: "mixed4" .. "mixed7", with `n` channels between.
Symbol block_b(Symbol x, std::int64_t n, const std::string& name) {
  const Symbol narrow = inception_conv(x, 192, 1);
  const Symbol seven = inception_conv(inception_conv(inception_conv(x, n, 1), n, {1, 7}), 192, {7, 1});
  const Symbol twice = inception_conv(
      inception_conv(inception_conv(inception_conv(inception_conv(x, n, 1), n, {7, 1}), n, {1, 7}), n,
                     {7, 1}),
      192, {1, 7});
  return mixed({narrow, seven, twice, pooled(x, 192)}, name);
}

/// 17 x 17 to 8 x 8: "mixed8".
Symbol reduction_b(Symbol x) {
  const Symbol three = inception_conv(inception_conv(x, 192, 1), 320, 3, At::kSecond);
  const Symbol seven =
      inception_conv(inception_conv(inception_conv(inception_conv(x, 192, 1), 192, {1, 7}), 192, {7, 1}), 192,
                     3, At::kSecond);
  return mixed({three, seven, halved(x)}, "mixed8");
}

/// 8 x 8, figure 7: "mixed9" and "mixed10".
Symbol block_c(Symbol x, const std::string& name) {
  const auto both = [](Symbol y) {
    return concat({inception_conv(y, 384, {1, 3}), inception_conv(y, 384, {3, 1})});
  };
  const Symbol narrow = inception_conv(x, 320, 1);
  const Symbol three = both(inception_conv(x, 384, 1));
  const Symbol twice = both(inception_conv(inception_conv(x, 448, 1), 384, 3));
  return mixed({narrow, three, twice, pooled(x, 192)}, name);
}

}  // namespace

Symbol inception_v3_features(Symbol x) {
  x = inception_conv(x, 32, 3, At::kSecond);
  x = inception_conv(x, 32, 3, At::kInside);
  x = halved(inception_conv(x, 64, 3));
  x = inception_conv(x, 80, 1, At::kInside);
  x = halved(inception_conv(x, 192, 3, At::kInside));
  x = block_a(x, 32, "mixed0");
  x = block_a(x, 64, "mixed1");
  x = block_a(x, 64, "mixed2");
  x = reduction_a(x);
  x = block_b(x, 128, "mixed4");
  x = block_b(x, 160, "mixed5");
  x = block_b(x, 160, "mixed6");
  x = block_b(x, 192, "mixed7");
  x = reduction_b(x);
  return block_c(block_c(x, "mixed9"), "mixed10");
}

Symbol inception_v3(Symbol x, const ZooOptions& options) {
  return head(global_average_pool(inception_v3_features(x)), options);
}

namespace {

Symbol xception_conv(Symbol x, std::int64_t filters, std::int64_t stride, const std::string& name) {
  x = apply(Conv2d({.filters = filters, .kernel = 3, .stride = stride, .bias = false}), x, name);
  return relu(apply(BatchNorm(), x, name + "_bn"));
}

/// The node "block<n>_sepconv<i>" and its batch norm.
Symbol xception_separable(Symbol x, std::int64_t filters, int block, int i) {
  const std::string name = fmt::format("block{}_sepconv{}", block, i);
  x = apply(SeparableConv2d({.filters = filters, .kernel = 3, .padding = Padding::same(), .bias = false}), x,
            name);
  return apply(BatchNorm(), x, name + "_bn");
}

/// Two separable convolutions and a pooling, with a strided 1 x 1 convolution as shortcut.
Symbol halving_block(Symbol x, std::int64_t inner, std::int64_t filters, int block) {
  const Symbol residual = batch_norm(
      conv2d(x, {.filters = filters, .kernel = 1, .stride = 2, .padding = Padding::same(), .bias = false}));
  Symbol y = block == 2 ? x : relu(x);  // block 1 ends in a ReLU
  y = xception_separable(relu(xception_separable(y, inner, block, 1)), filters, block, 2);
  return add(max_pool(y, {.size = 3, .stride = 2, .padding = Padding::same()}), residual);
}

Symbol middle_block(Symbol x, int block) {
  Symbol y = x;
  for (int i = 1; i <= 3; ++i) y = xception_separable(relu(y), 728, block, i);
  return add(y, x);
}

}  // namespace

Symbol xception(Symbol x, const ZooOptions& options) {
  // Entry flow.
  x = xception_conv(x, 32, 2, "block1_conv1");
  x = xception_conv(x, 64, 1, "block1_conv2");
  x = halving_block(x, 128, 128, 2);
  x = halving_block(x, 256, 256, 3);
  x = halving_block(x, 728, 728, 4);
  // Middle flow.
  for (int block = 5; block <= 12; ++block) x = middle_block(x, block);
  // Exit flow.
  x = halving_block(x, 728, 1024, 13);
  x = relu(xception_separable(x, 1536, 14, 1));
  x = relu(xception_separable(x, 2048, 14, 2));
  return head(global_average_pool(x), options);
}

}  // namespace convoke::nn
