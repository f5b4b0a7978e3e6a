// Activations other than relu, sigmoid and tanh: kernels against Keras and over the whole range of floats,
// layers in graphs.
#include <cmath>
#include <limits>
#include <numbers>

#include "around.hpp"
#include "golden.hpp"
#include "nn/kernels/activation.hpp"
#include "nn/kernels/instruction_sets.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

using Make = Symbol (*)(Symbol x);
struct ActivationCase {
  Make make;
  bool smooth;  ///< no kink that bf16's rounding could cross
};
const std::vector<ActivationCase> kActivations{
    {[](Symbol x) { return relu6(x); }, false},
    {[](Symbol x) { return leaky_relu(x); }, false},
    {[](Symbol x) { return leaky_relu(x, {.negative_slope = 0.01}); }, false},
    {[](Symbol x) { return elu(x, {.alpha = 0.7}); }, false},
    {[](Symbol x) { return selu(x); }, false},
    {[](Symbol x) { return gelu(x); }, true},
    {[](Symbol x) { return gelu(x, {.approximate = true}); }, true},
    {[](Symbol x) { return silu(x); }, true},
    {[](Symbol x) { return hard_swish(x); }, false},
    {[](Symbol x) { return hard_sigmoid(x); }, false},
    {[](Symbol x) { return softplus(x); }, true},
    {[](Symbol x) { return prelu(x); }, false},
};

Graph saturating(std::int64_t channels, std::int64_t height, std::int64_t width, Make body) {
  // The factor of four makes inputs reach the saturated ends.
  return around(channels, height, width, [&](Symbol x) { return body(add(x, add(x, add(x, x)))); });
}

std::vector<float> apply(Curve curve, float alpha, std::vector<float> x) {
  kernels<ActivationKernels<float>>().activate(curve, alpha, x.data(), x.data(), x.size());
  return x;
}

/// CHECKs that the two relu6, silu or hard_swish of a graph are steps of its batch norms.
void check_fused(const Graph& graph) {
  Experiment experiment(graph, kMicroBatchOf3);
  int fused = 0, own = 0;
  for (const PlanStep& step : experiment.network.steps()) {
    for (const std::string name : {"relu6", "silu", "hard_swish"}) {
      fused += step.what == "forward, " + name ? 1 : 0;
      own += step.node.starts_with(name) ? 1 : 0;
    }
  }
  CHECK(fused == 2);
  CHECK(own == 0);
}

}  // namespace

TEST_CASE("activations and their slopes equal Keras'") {
  // x = tf.constant([-7, -4, -2.9, -2, -1, -0.3, 0.2, 0.5, 1, 2.5, 3.5, 6.5])
  // for f in (keras.activations.relu6, keras.layers.LeakyReLU(), keras.activations.elu, selu,
  //           lambda v: gelu(v, approximate=False), lambda v: gelu(v, approximate=True), silu, hard_silu,
  //           hard_sigmoid, softplus):
  //   with tf.GradientTape() as tape: tape.watch(x); y = f(x)
  //   print(y, tape.gradient(y, x))                                               # Keras 3.15.1, TensorFlow
  const std::vector<float> x{-7, -4, -2.9F, -2, -1, -0.3F, 0.2F, 0.5F, 1, 2.5F, 3.5F, 6.5F};
  struct Golden {
    Curve curve;
    std::vector<double> y, slope;
    float alpha = 0;
  };
  const std::vector<Golden> goldens{
      {Curve::kRelu6, {0, 0, 0, 0, 0, 0, 0.2, 0.5, 1, 2.5, 3.5, 6}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0}},
      {Curve::kLeakyRelu,
       {-2.1, -1.2, -0.8700001, -0.6, -0.3, -0.09, 0.2, 0.5, 1, 2.5, 3.5, 6.5},
       {0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 1, 1, 1, 1, 1, 1},
       0.3F},
      {Curve::kElu,
       {-0.9990881, -0.9816844, -0.9449768, -0.8646647, -0.6321205, -0.2591818, 0.2, 0.5, 1, 2.5, 3.5, 6.5},
       {0.0009118915, 0.01831561, 0.05502319, 0.1353353, 0.3678795, 0.7408182, 1, 1, 1, 1, 1, 1},
       1},
      {Curve::kSelu,
       {-1.756496, -1.725899, -1.661363, -1.520167, -1.111331, -0.4556673, 0.2101402, 0.5253505, 1.050701,
        2.626753, 3.677454, 6.829556},
       {0.001603246, 0.03220069, 0.09673619, 0.2379328, 0.6467686, 1.302432, 1.050701, 1.050701, 1.050701,
        1.050701, 1.050701, 1.050701}},
      {Curve::kGelu,
       {-8.958679e-12, -0.000126685, -0.00541086, -0.04550027, -0.1586553, -0.1146266, 0.1158519, 0.3457312,
        0.8413447, 2.484476, 3.499186, 6.5},
       {-6.266324e-11, -0.0005036499, -0.01539654, -0.08523182, -0.08331549, 0.2676722, 0.6574683, 0.8674951,
        1.083315, 1.037611, 1.002822, 1}},
      {Curve::kGeluTanh,
       {-0.0, -7.021427e-05, -0.004966858, -0.04540223, -0.158808, -0.1146291, 0.1158514, 0.345714, 0.841192,
        2.484916, 3.499384, 6.5},
       {0, -0.0003349782, -0.01512608, -0.0860991, -0.08296409, 0.2677045, 0.6574581, 0.8673699, 1.082964,
        1.037951, 1.002423, 1}},
      {Curve::kSilu,
       {-0.006377358, -0.07194484, -0.1512453, -0.2384059, -0.2689414, -0.1276672, 0.1099668, 0.3112297,
        0.7310586, 2.310354, 3.397407, 6.490242},
       {-0.005460497, -0.05266461, -0.09120379, -0.09078425, 0.07232948, 0.3522199, 0.5993372, 0.7399612,
        0.9276705, 1.099401, 1.070274, 1.008242}},
      {Curve::kHardSwish,
       {-0.0, -0.0, -0.04833329, -0.3333333, -0.3333333, -0.135, 0.1066667, 0.2916667, 0.6666667, 2.291667,
        3.5, 6.5},
       {0, 0, -0.4666667, -0.1666667, 0.1666667, 0.4, 0.5666667, 0.6666666, 0.8333334, 1.333333, 1, 1}},
      {Curve::kHardSigmoid,
       {0, 0, 0.01666665, 0.1666667, 0.3333333, 0.45, 0.5333334, 0.5833333, 0.6666667, 0.9166667, 1, 1},
       {0, 0, 0.1666667, 0.1666667, 0.1666667, 0.1666667, 0.1666667, 0.1666667, 0.1666667, 0.1666667, 0, 0}},
      {Curve::kSoftplus,
       {0.0009114664, 0.01814993, 0.05356278, 0.126928, 0.3132617, 0.5543552, 0.7981389, 0.9740769, 1.313262,
        2.57889, 3.52975, 6.501503},
       {0.0009110512, 0.01798621, 0.05215355, 0.1192029, 0.2689414, 0.4255574, 0.549834, 0.6224594, 0.7310586,
        0.9241418, 0.9706877, 0.9984988}},
  };
  const std::vector<float> ones(x.size(), 1.0F);
  for (const Golden& golden : goldens) {
    const std::vector<float> y = apply(golden.curve, golden.alpha, x);
    const std::vector<float>& kept = slope_needs_x(golden.curve) ? x : y;
    std::vector<float> slope(x.size());
    kernels<ActivationKernels<float>>().activate_backward(golden.curve, golden.alpha, kept.data(),
                                                          ones.data(), slope.data(), slope.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO("curve " << static_cast<int>(golden.curve) << " at " << x[i]);
      CHECK(y[i] == Catch::Approx(golden.y[i]).epsilon(1e-6).margin(5e-7));
      CHECK(slope[i] == Catch::Approx(golden.slope[i]).epsilon(1e-6).margin(2e-6));
    }
  }
}

TEST_CASE("activation kernels over the whole range are exact to float precision, and NaN stays NaN") {
  std::vector<float> x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) / 200 + 0.001F);
  for (const float far : {-1e30F, -200.0F, -90.0F, 90.0F, 200.0F, 1e30F}) x.push_back(far);
  const std::vector<float> silu = apply(Curve::kSilu, 0, x), gelu = apply(Curve::kGelu, 0, x),
                           elu = apply(Curve::kElu, 1, x), softplus = apply(Curve::kSoftplus, 0, x);
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto v = static_cast<double>(x[i]);
    const auto near = [&](float actual, double expected) {
      const bool good =
          std::abs(static_cast<double>(actual) - expected) <= 1e-6 * std::max(1.0, std::abs(expected));
      wrong += good ? 0 : 1;
    };
    near(silu[i], v < -100 ? 0 : v / (1 + std::exp(-v)));
    near(gelu[i], v < -100 ? 0 : 0.5 * v * std::erfc(-v / std::numbers::sqrt2));
    near(elu[i], v > 0 ? v : std::expm1(v));
    near(softplus[i], v > 50 ? v : std::log1p(std::exp(v)));
  }
  CHECK(wrong == 0);
  for (const Curve curve :
       {Curve::kRelu6, Curve::kLeakyRelu, Curve::kElu, Curve::kSelu, Curve::kGelu, Curve::kGeluTanh,
        Curve::kSilu, Curve::kHardSwish, Curve::kHardSigmoid, Curve::kSoftplus}) {
    INFO("curve " << static_cast<int>(curve));
    CHECK(std::isnan(apply(curve, 0.5F, std::vector<float>(40, NAN))[17]));
  }
}

TEST_CASE("every activation on images and vectors, in fp32 and bf16") {
  for (const ActivationCase& each : kActivations) {
    for (const std::int64_t channels : {3, 16, 20}) check_graph(saturating(channels, 2, 3, each.make));
    const auto vector = [&](Symbol x) { return each.make(dense(x, {.units = 9})); };
    check_graph(as_first(Shape{7}, vector));
    check_graph(around(20, 3, 2, [&](Symbol x) { return each.make(flatten(x)); }));
    check_graph(as_first(Shape{5, 3, 3}, each.make));
    check_graph(as_first(Shape{5, 3}, [&](Symbol x) { return each.make(prelu(x)); }));
    check_bf16(saturating(20, 2, 2, each.make), {.micro_batch = 4}, each.smooth ? 0.03 : 0.1);
  }
}

TEST_CASE("batch_norm is fused with a relu6, a silu or a hard_swish if that is its only reader") {
  const auto tail = [](Symbol x) { dense(flatten(x), {.units = 3}); };
  for (const auto curve : {relu6, silu, hard_swish}) {
    const bool ends = curve == relu6;  // large values with given statistics reach both of them
    for (const std::int64_t channels : {3, 16, 20}) {
      Graph graph({2, 5, 3});
      Symbol x = curve(batch_norm(conv2d(input(graph), {.filters = channels, .kernel = 1, .bias = false})));
      if (ends) x = rescale(x, {.scale = 9});
      x = curve(batch_norm(conv2d(x, {.filters = channels, .kernel = 1, .bias = false}), {.frozen = true}));
      tail(x);
      check_graph(graph, {.micro_batch = 3, .micro_batches = 2});
      Graph narrow({2, 2, 3});
      tail(curve(batch_norm(conv2d(input(narrow), {.filters = channels, .kernel = 1, .bias = false}))));
      check_bf16(narrow, {.micro_batch = 8}, ends ? 0.25 : 0.03);
      check_fused(graph);
    }
    Graph vector({6});
    dense(curve(batch_norm(dense(input(vector), {.units = 5}))), {.units = 3});
    check_graph(vector, {.micro_batch = 4});
    Graph shared({2, 3, 3});
    const Symbol x = batch_norm(input(shared));
    tail(add(curve(x), x));
    check_graph(shared);
    // A frozen node, and a node whose gradient another step still needs.
    Graph frozen({2, 3, 3});
    const Symbol y = conv2d(input(frozen), {.filters = 4, .kernel = 1});
    tail(add(curve(batch_norm(y)), y));
    check_graph(frozen);
    frozen.set_options(frozen.find("batch_norm_1"), {.trainable = false});
    check_graph(frozen);
  }
}

TEST_CASE("prelu equals PyTorch's") {
  // p = torch.nn.PReLU(3); p.weight.data = torch.tensor([0.25, -0.5, 2.0]); p(torch.tensor(fill(1, 3, 1, 3)))
  Graph graph({3, 1, 3});
  flatten(prelu(input(graph)));
  CHECK(difference(evaluate(graph, golden_fill(9), {{"prelu_1.alpha", {0.25, -0.5, 2.0}}}),
                   {-0.5, -0.13, 0.96, 0.8, 0.06, 1.36, -2.4, 0.28, 1.76}) < 1e-6);
  // Keras starts with zeroes.
  CHECK(evaluate(graph, std::vector<double>(9, -1)) == std::vector<double>(9, 0));
}

TEST_CASE("activations as settings: options, other names, and the layers that accept them") {
  const auto again = [](const Settings& settings) { return make_layer(settings)->settings(); };
  CHECK(again({{"layer", "leaky_relu"}}) == Settings{{"layer", "leaky_relu"}, {"negative_slope", 0.3}});
  CHECK(again({{"layer", "elu"}, {"alpha", 0.5}}) == Settings{{"layer", "elu"}, {"alpha", 0.5}});
  CHECK(again({{"layer", "gelu"}, {"approximate", true}}) ==
        Settings{{"layer", "gelu"}, {"approximate", true}});
  CHECK(again({{"layer", "swish"}}) == Settings{{"layer", "silu"}});
  CHECK(again({{"layer", "hard_silu"}}) == Settings{{"layer", "hard_swish"}});
  CHECK(again({{"layer", "prelu"}}) == Settings{{"layer", "prelu"}, {"initializer", "zeros"}});
  CHECK(error_of_layer({{"layer", "leaky_relu"}, {"negative_slope", -1}}) ==
        "layer \"leaky_relu\": \"negative_slope\" must be at least 0, but is -1");
  CHECK(error_of_layer({{"layer", "elu"}, {"alpha", -1}}) ==
        "layer \"elu\": \"alpha\" must be at least 0, but is -1");

  const auto last = [](const std::vector<Settings>& layers) {
    return std::string(build_graph({4, 3, 3}, layers).nodes().back().layer->type());
  };
  CHECK(last({{{"layer", "batch_norm"}, {"activation", "swish"}}}) == "silu");
  CHECK(last({{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 1}, {"activation", "prelu"}}}) == "prelu");
  CHECK(last({{{"layer", "layer_norm"}, {"axis", "channels"}, {"activation", "gelu"}}}) == "gelu");
  CHECK(refused_layers({4, 3, 3}, {{{"layer", "max_pool"}, {"activation", "relu"}}}) ==
        "max_pool_1 accepts no \"activation\": it has no weights | write the activation as a separate layer: "
        "{ layer = \"relu\" }");
}
