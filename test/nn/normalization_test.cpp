// Layer, group and local response normalization, rescale and standardize, and batch_norm without gamma or
// beta.
#include <cmath>

#include "around.hpp"
#include "golden.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

using Over = LayerNormOptions::Over;

/// Checks `body` on an image after a convolution, and as the first layer.
template <class Body>
std::vector<Graph> on_images(std::int64_t channels, const Body& body) {
  return {around(channels, 3, 2, body), as_first(Shape{channels, 1, 3}, body)};
}

template <class Body>
std::vector<Graph> on_sequences(std::int64_t features, const Body& body) {
  return {as_first(Shape{3, features}, [&](Symbol x) { return body(prelu(x)); }),
          as_first(Shape{2, features}, body)};
}

template <class Body>
std::vector<Graph> on_vectors(std::int64_t features, const Body& body) {
  const auto inner = [&](Symbol x) { return body(dense(x, {.units = features})); };
  const auto flat = [&](Symbol x) {
    return body(flatten(conv2d(x, {.filters = features, .kernel = {3, 2}})));
  };
  return {as_first(Shape{7}, inner), as_first(Shape{features}, body), as_first(Shape{2, 3, 2}, flat)};
}

void check(const std::vector<Graph>& graphs, double tolerance = 5e-5) {
  for (const Graph& graph : graphs) check_graph(graph, kMicroBatchOf3, tolerance);
}

}  // namespace

TEST_CASE("layer_norm over features and over channels") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check(on_images(channels, [](Symbol x) { return layer_norm(x, {.axis = Over::kChannels}); }));
    check(on_sequences(channels, [](Symbol x) { return layer_norm(x); }));
    check(on_vectors(channels, [](Symbol x) { return layer_norm(x, {.epsilon = 1e-5}); }));
    check(on_images(channels, [](Symbol x) {
      return layer_norm(x, {.axis = Over::kChannels, .scale = false, .center = false});
    }));
    check(on_sequences(channels, [](Symbol x) { return layer_norm(x, {.center = false}); }));
  }
  Graph graph({3, 3, 3});
  Symbol x = layer_norm(conv2d(input(graph), {.filters = 20, .kernel = 2}), {.axis = Over::kChannels});
  dense(layer_norm(dense(flatten(gelu(x)), {.units = 24})), {.units = 5});
  check_bf16(graph, {.micro_batch = 8});
}

TEST_CASE("layer_norm equals Keras' and PyTorch's") {
  // ln = keras.layers.LayerNormalization(); ln.build((2, 3, 4))
  // ln.set_weights([np.array([1, 2, 3, 4], "f"), np.array([.1, .2, .3, .4], "f")]); ln(fill(2, 3, 4))
  Graph sequence({3, 4});
  flatten(layer_norm(input(sequence)));
  const std::vector<double> gamma{1, 2, 3, 4}, beta{0.1, 0.2, 0.3, 0.4};
  const std::map<std::string, std::vector<double>> given{{"layer_norm_1.gamma", gamma},
                                                         {"layer_norm_1.beta", beta}};
  CHECK(difference(evaluate(sequence, golden_fill(24), given),
                   {-0.9552102, 0.6709203, 4.878391,  -2.425522,  -0.1181919, 2.992857,
                    -3.889285,  1.272768,  1.409725,  -0.8650515, 1.897577,   -4.838902,
                    -0.118192,  2.992857,  -3.889285, 1.272768,   0.8063805,  -2.852261,
                    -0.4063802, 4.620841,  -0.118192, 2.992857,   -3.889285,  1.272768}) < 1e-6);
  // F.layer_norm(x.permute(0, 2, 3, 1), (4,), gamma, beta, 1e-6).permute(0, 3, 1, 2), x = fill(2, 4, 1, 3)
  Graph image({4, 1, 3});
  flatten(layer_norm(input(image), {.axis = Over::kChannels, .epsilon = 1e-6}));
  CHECK(difference(evaluate(image, golden_fill(24), given),
                   {-1.241638, -1.241637, 0.3864751, -0.6944252, -0.694425, 1.331926,
                    1.641637,  1.641637,  2.836353,  5.76655,    5.76655,   -6.391557,
                    -1.241637, 0.3864751, -1.241638, -0.6944249, 1.331926,  -0.6944255,
                    1.641637,  2.836353,  1.641637,  5.76655,    -6.391557, 5.766549}) < 1e-6);
}

TEST_CASE("channel_scale") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const auto body = [](Symbol x) { return channel_scale(x, {.initial = 0.5}); };
    check(on_images(channels, body));
    check(on_sequences(channels, body));
    check(on_vectors(channels, body));
  }
  Graph residual({3, 3, 3});
  const Symbol x = conv2d(input(residual), {.filters = 20, .kernel = 1});
  dense(flatten(add(x, channel_scale(gelu(x)))), {.units = 5});
  check_graph(residual);
  check_bf16(residual, {.micro_batch = 8});
  // gamma.view(-1, 1, 1) * torch.tensor(fill(1, 3, 1, 1)), and the initial gamma
  Graph image({3, 1, 1});
  flatten(channel_scale(input(image)));
  const std::vector<double> one{2, -3, 0.5};
  CHECK(difference(evaluate(image, one, {{"channel_scale_1.gamma", {0.25, -0.5, 2.0}}}), {0.5, 1.5, 1}) <
        1e-6);
  CHECK(difference(evaluate(image, one), {2e-6, -3e-6, 0.5e-6}) < 1e-6);
}

TEST_CASE("group_norm") {
  for (const std::int64_t groups : {1, 2, 4}) {
    for (const std::int64_t channels : {4, 16, 20}) {
      const auto body = [&](Symbol x) { return group_norm(x, {.groups = groups}); };
      check(on_images(channels, body));
      check(on_sequences(channels, body));
      check(on_vectors(channels, body));
    }
  }
  check(on_images(3, [](Symbol x) { return group_norm(x, {.groups = 3, .scale = false}); }));
  check(on_images(20, [](Symbol x) { return group_norm(x, {.groups = 5, .center = false}); }));
  Graph graph({3, 3, 3});
  Symbol x = group_norm(conv2d(input(graph), {.filters = 20, .kernel = 2}), {.groups = 5});
  dense(group_norm(dense(flatten(silu(x)), {.units = 24}), {.groups = 4}), {.units = 5});
  check_bf16(graph, {.micro_batch = 8});
}

TEST_CASE("group_norm equals Keras' and PyTorch's") {
  // F.group_norm(torch.tensor(fill(2, 6, 1, 2)), 3, weight=[1..6], bias=[.1...6], eps=1e-5)
  Graph image({6, 1, 2});
  flatten(group_norm(input(image), {.groups = 3, .epsilon = 1e-5}));
  CHECK(difference(evaluate(image, golden_fill(24),
                            {{"group_norm_1.gamma", {1, 2, 3, 4, 5, 6}},
                             {"group_norm_1.beta", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}}}),
                   {-0.9556077, 0.3355488, 3.25341,   -1.213293, -0.3549617, 4.491755,
                    -5.189007,  1.273282,  7.050306,  -2.163311, 3.795974,   -7.260368,
                    -0.1183206, 1.497252,  -2.594503, 0.6366412, 2.41994,    -4.280116,
                    -0.5421954, 4.622431,  -0.591603, 7.486259,  -7.783511,  1.909923}) < 1e-6);
  // gn = keras.layers.GroupNormalization(groups=2), gamma and beta as above: gn(fill(2, 1, 3, 4)), channels
  // last, which is a sequence of length three.
  Graph sequence({3, 4});
  flatten(group_norm(input(sequence), {.groups = 2}));
  CHECK(difference(
            evaluate(sequence, golden_fill(24),
                     {{"group_norm_1.gamma", {1, 2, 3, 4}}, {"group_norm_1.beta", {0.1, 0.2, 0.3, 0.4}}}),
            {-1.418477, -0.5280368, 4.05237,  -3.616621, 0.04799736, 2.404912, -1.65546,  3.00728,
             1.514472,  -0.964859,  3.312466, -4.603159, -0.5237604, 2.029697, -2.852375, 1.082189,
             1.430689,  -2.461378,  1.801917, 7.287913,  -0.8148485, 1.447521, -3.545568, 0.1579328}) < 1e-6);
}

TEST_CASE("local_response_norm") {
  for (const std::int64_t channels : {3, 16, 20}) {
    for (const std::int64_t size : {1, 4, 5}) {
      check(on_images(channels, [&](Symbol x) {
        return local_response_norm(x, {.size = size, .alpha = 0.5, .beta = 0.6, .k = 1.5});
      }));
    }
  }
  Graph graph({3, 3, 3});
  Symbol x = local_response_norm(conv2d(input(graph), {.filters = 20, .kernel = 2}), {.alpha = 0.1});
  dense(flatten(x), {.units = 5});
  check_bf16(graph, {.micro_batch = 8});
}

TEST_CASE("local_response_norm equals PyTorch's, for an even window too") {
  Graph five({7, 1, 2});  // torch.nn.LocalResponseNorm(5)(torch.tensor(fill(1, 7, 1, 2)))
  flatten(local_response_norm(input(five)));
  CHECK(difference(evaluate(five, golden_fill(14)),
                   {-1.999852, -0.5199634, 0.9599082, -1.599886, -0.119983, 1.35989, -1.199893, 0.2799636,
                    1.759863, -0.7999128, 0.6799474, -1.879847, -0.3999777, 1.079913}) < 1e-6);
  Graph four({7, 1, 2});  // torch.nn.LocalResponseNorm(4, alpha=0.5, beta=0.6, k=1.5)
  flatten(local_response_norm(input(four), {.size = 4, .alpha = 0.5, .beta = 0.6, .k = 1.5}));
  CHECK(difference(evaluate(four, golden_fill(14)),
                   {-1.275907, -0.3590588, 0.612123, -1.029571, -0.07285924, 0.8726767, -0.750941, 0.1773324,
                    1.11912, -0.4901198, 0.4301823, -1.178677, -0.266712, 0.6789477}) < 1e-6);
}

TEST_CASE("rescale and standardize") {
  for (const std::int64_t channels : {3, 16, 20}) {
    std::vector<double> mean, variance;
    for (std::int64_t c = 0; c < channels; ++c) {
      mean.push_back(0.1 * static_cast<double>(c) - 0.5);
      variance.push_back(0.5 + 0.2 * static_cast<double>(c));
    }
    const auto body = [&](Symbol x) {
      return standardize(rescale(x, {.scale = 0.5, .offset = 0.3}), {.mean = mean, .variance = variance});
    };
    check(on_images(channels, body));
    check(on_sequences(channels, body));
    check(on_vectors(channels, body));
    check(on_vectors(channels, [](Symbol x) { return standardize(x, {.mean = {1}, .variance = {4}}); }));
  }
  Graph graph({3, 3, 3});
  Symbol x = rescale(input(graph), {.scale = 0.5, .offset = 0.1});
  x = standardize(conv2d(x, {.filters = 2, .kernel = 2}), {.mean = {0.1, -0.2}, .variance = {0.5, 2}});
  dense(flatten(tanh(x)), {.units = 5});
  check_bf16(graph, {.micro_batch = 8});
  // keras.layers.Normalization(mean=[1, 2, 3], variance=[4, 0.25, 9])(fill(2, 3))
  Graph vector({3});
  standardize(input(vector), {.mean = {1, 2, 3}, .variance = {4, 0.25, 9}});
  CHECK(difference(evaluate(vector, golden_fill(6)), {-1.5, -5.04, -0.68, -1.3, -4.24, -0.5466667}) < 1e-6);
}

TEST_CASE("batch_norm on sequences, without gamma or beta, and frozen") {
  for (const std::int64_t channels : {3, 16, 20}) {
    for (const BatchNormOptions options : {BatchNormOptions{},
                                           {.scale = false},
                                           {.center = false},
                                           {.frozen = true},
                                           {.epsilon = 0.1},
                                           {.scale = false, .center = false},
                                           {.scale = false, .frozen = true}}) {
      const auto body = [&](Symbol x) { return batch_norm(x, options); };
      check(on_images(channels, body));
      check(on_sequences(channels, body));
      check(on_vectors(channels, body));
    }
    // With the layers fused into it.
    for (const bool frozen : {false, true}) {
      check(on_images(channels, [&](Symbol x) {
        return max_pool(relu(batch_norm(x, {.scale = false, .frozen = frozen})), {.size = {1, 2}});
      }));
    }
  }
  for (const std::int64_t channels : {1, 32}) {
    check({around(channels, 5, 3, [](Symbol x) { return batch_norm(x); }),
           as_first(Shape{channels}, [](Symbol x) { return batch_norm(x); })});
  }
  // without biases, because biases before a batch norm have only rounding as gradient
  Graph graph({3, 3, 3});
  Symbol x = conv2d(input(graph), {.filters = 20, .kernel = 2, .bias = false});
  x = batch_norm(x, {.center = false, .frozen = true});
  x = batch_norm(conv2d(x, {.filters = 20, .kernel = 1, .bias = false}), {.scale = false});
  dense(flatten(tanh(x)), {.units = 5});
  check_bf16(graph, {.micro_batch = 8});
}

TEST_CASE("a frozen batch_norm equals Keras' with trainable = False, and its statistics never move") {
  // bn = keras.layers.BatchNormalization(scale=False); bn.trainable = False; bn.build((3, 2))
  // bn.set_weights([[.5, -.5], [.1, .2], [2, 3]]); bn(fill(3, 2), training=True)
  Graph graph({2});
  batch_norm(input(graph), {.scale = false, .frozen = true});
  Experiment experiment(graph, {.micro_batch = 3});
  experiment.set("batch_norm_1.beta", {0.5, -0.5});
  experiment.set("batch_norm_1.running_mean", {0.1F, 0.2F});
  experiment.set("batch_norm_1.running_variance", {2, 3});
  Batch batch(graph, 3);
  const std::vector<double> fill = golden_fill(6);
  std::copy(fill.begin(), fill.end(), batch.input.begin());
  CHECK(difference(experiment.run(batch).output,
                   {-0.9845532, -0.9156229, 1.10796, -1.539057, 0.3444754, 0.1696148}) < 1e-6);
  for (const char* name : {"batch_norm_1.running_mean", "batch_norm_1.running_variance"})
    CHECK(experiment.layout->slot(name).spec.momentum == 1);  // the engine does not update such statistics
}

TEST_CASE("normalizations refuse inputs that do not fit") {
  CHECK(
      refused_layers({3, 8, 8}, {{{"layer", "layer_norm"}}}) ==
      "layer_norm_1 (layer_norm): normalizes the features of (N, L, F) or (N, F), but its input is (N, 3, 8, "
      "8) | use axis = \"channels\" to normalize each pixel of an image, or group_norm with groups = 1 for "
      "the whole image");
  CHECK(refused_layers({8}, {{{"layer", "layer_norm"}, {"axis", "channels"}}}) ==
        "layer_norm_1 (layer_norm): with axis \"channels\" needs (N, C, H, W), but its input is (N, 8) | "
        "remove axis: the layer then normalizes the last one");
  CHECK(refused_layers({8}, {{{"layer", "layer_norm"}, {"axis", "rows"}}}) ==
        "unknown axis \"rows\" | known: channels, features");
  CHECK(refused_layers({6, 8, 8}, {{{"layer", "group_norm"}, {"groups", 4}}}) ==
        "group_norm_1 (group_norm): 4 groups do not divide the 6 channels of its input (N, 6, 8, 8) | choose "
        "groups that divide the channels");
  CHECK(refused_layers({8}, {{{"layer", "local_response_norm"}}}) ==
        "local_response_norm_1 (local_response_norm): needs an image (N, C, H, W), but its input is (N, 8) | "
        "use layer_norm for sequences and vectors");
  CHECK(
      refused_layers(
          {3, 8, 8},
          {{{"layer", "standardize"}, {"mean", Value::Array{1, 2}}, {"variance", Value::Array{1, 0.5}}}}) ==
      "standardize_1 (standardize): has 2 means, but its input (N, 3, 8, 8) has 3 channels | give a mean and "
      "a variance for each channel, or one for all");
  CHECK(refused_layers({3}, {{{"layer", "standardize"}, {"mean", 1}, {"variance", 0}}}) ==
        "layer \"standardize\": \"variance\" must be above 0, but is 0 | "
        "variance: variance of each, as many numbers as \"mean\"");
  CHECK(refused_layers({3}, {{{"layer", "standardize"}, {"mean", 1}, {"variance", Value::Array{1, 2}}}}) ==
        "layer \"standardize\": \"variance\" must be as many numbers as \"mean\", but is [1, 2] | ");
  CHECK(refused_layers({3}, {{{"layer", "standardize"}, {"mean", "dark"}, {"variance", 1}}}) ==
        "layer \"standardize\": \"mean\" must be a number or a list of them, but is text (\"dark\") | ");
  CHECK(refused_layers({3}, {{{"layer", "rescale"}}}) ==
        "layer \"rescale\": \"scale\" is missing | scale: factor");
}
