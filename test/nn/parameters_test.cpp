// The parameters of a network: their places, and their initial values.
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/nn/initializer.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns a graph with plain, blocked and padded layouts, groups, and a dense layer on an image and on a
/// vector.
Graph various() {
  Graph graph({3, 8, 8});
  Symbol x = conv2d(input(graph), {.filters = 20, .kernel = 3});
  x = relu(batch_norm(conv2d(x, {.filters = 32, .kernel = 3})));
  x = conv2d(x, {.filters = 32, .kernel = 3, .padding = Padding::same(), .groups = 32, .bias = false});
  x = conv2d(x, {.filters = 6, .kernel = {1, 2}, .groups = 2});
  dense(batch_norm(dense(flatten(x), {.units = 10})), {.units = 4});
  return graph;
}

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

reference::Parameters initial(const ParameterLayout& layout, std::uint64_t seed) {
  return by_name(layout, initial_parameters(layout, seed).span());
}

}  // namespace

TEST_CASE("parameters are stored in the order of backward, followed by the statistics") {
  const ParameterLayout layout(various(), 4);
  std::vector<std::string> names;
  for (const ParameterSlot& slot : layout.slots()) names.push_back(slot.name);
  CHECK(names == std::vector<std::string>{"dense_2.weight", "dense_2.bias", "batch_norm_2.gamma",
                                          "batch_norm_2.beta", "dense_1.weight", "dense_1.bias",
                                          "conv2d_4.weight", "conv2d_4.bias", "conv2d_3.weight",
                                          "batch_norm_1.gamma", "batch_norm_1.beta", "conv2d_2.weight",
                                          "conv2d_2.bias", "conv2d_1.weight", "conv2d_1.bias",
                                          "batch_norm_2.running_mean", "batch_norm_2.running_variance",
                                          "batch_norm_1.running_mean", "batch_norm_1.running_variance"});
}

TEST_CASE("slots are aligned to 64 bytes, disjoint, large enough and fill the arena") {
  const ParameterLayout layout(various(), 4);
  std::size_t end = 0;
  for (const ParameterSlot& slot : layout.slots()) {
    CHECK(slot.offset == end);
    CHECK(slot.offset % 16 == 0);
    CHECK(slot.size >= static_cast<std::size_t>(slot.spec.shape.elements()));
    end = slot.offset + slot.size;
    CHECK((end <= layout.trainable_size()) == slot.spec.trainable);
  }
  CHECK(end == layout.size());
  CHECK(layout.slot("conv2d_2.bias").node == 2);
  CHECK(error_of([&] { layout.slot("conv2d_9.bias"); }) == "the network has no parameter \"conv2d_9.bias\"");
}

TEST_CASE("unpack is the inverse of pack in every layout, and stays within its slot") {
  for (const auto choice : {ConvolutionChoice::kDirect, ConvolutionChoice::kWinograd}) {
    const ParameterLayout layout(various(), 4, choice);
    for (const ParameterSlot& slot : layout.slots()) {
      const auto values = counting(static_cast<std::size_t>(slot.spec.shape.elements()));
      AlignedBuffer<float> arena(layout.size());
      std::fill(arena.span().begin(), arena.span().end(), -1.0F);
      layout.pack(slot, values, arena.span());
      std::vector<float> back(values.size());
      layout.unpack(slot, arena.span(), back);
      CHECK(back == values);
      const auto untouched = [&](std::size_t begin, std::size_t stop) {
        return std::all_of(arena.data() + begin, arena.data() + stop,
                           [](float value) { return value == -1; });
      };
      CHECK(untouched(0, slot.offset));
      CHECK(untouched(slot.offset + slot.size, layout.size()));
      // The padding after the canonical values is zero, so that optimizers and sums keep it zero.
      const std::multiset<float> stored(arena.data() + slot.offset, arena.data() + slot.offset + slot.size);
      CHECK(stored.count(0) + stored.count(-1) == slot.size - values.size());
    }
  }
}

TEST_CASE("initial parameters depend on seed and parameter, not on micro-batch, algorithm or layout") {
  const ParameterLayout a(various(), 4), b(various(), 64, ConvolutionChoice::kWinograd);
  CHECK(initial(a, 5) == initial(b, 5));
  CHECK(initial(a, 5).at("conv2d_1.weight") != initial(a, 6).at("conv2d_1.weight"));
  // Equal shapes at two places in the graph start with different values.
  Graph twins({8});
  dense(dense(input(twins), {.units = 8}), {.units = 8});
  const reference::Parameters both = initial(ParameterLayout(twins, 2), 1);
  CHECK(both.at("dense_1.weight") != both.at("dense_2.weight"));
}

TEST_CASE("initial weights fill Glorot's limits, and vectors are zero or one") {
  Graph graph({16, 8, 8});
  const Symbol x = conv2d(input(graph), {.filters = 64, .kernel = 3, .groups = 2});
  dense(flatten(batch_norm(x)), {.units = 10});
  const reference::Parameters values = initial(ParameterLayout(graph, 4), 3);
  // Fans as Keras computes them for a kernel of shape (3, 3, 16 / 2, 64): 9 * 8 and 9 * 64.
  for (const auto& [name, fans] :
       {std::pair{"conv2d_1.weight", 9.0 * 8 + 9 * 64}, std::pair{"dense_1.weight", 64.0 * 36 + 10}}) {
    const double limit = std::sqrt(6 / fans);
    const auto [least, most] = std::minmax_element(values.at(name).begin(), values.at(name).end());
    CHECK(std::max(-*least, *most) <= limit);
    CHECK(std::min(-*least, *most) > 0.995 * limit);
  }
  CHECK(values.at("conv2d_1.bias") == std::vector<double>(64, 0));
  CHECK(values.at("batch_norm_1.gamma") == std::vector<double>(64, 1));
  CHECK(values.at("batch_norm_1.beta") == std::vector<double>(64, 0));
  CHECK(values.at("batch_norm_1.running_mean") == std::vector<double>(64, 0));
  CHECK(values.at("batch_norm_1.running_variance") == std::vector<double>(64, 1));
}

TEST_CASE("different layouts have different hashes") {
  const auto hash = [](Conv2dOptions options, std::int64_t units) {
    Graph graph({3, 8, 8});
    dense(flatten(conv2d(input(graph), options)), {.units = units});
    return ParameterLayout(graph, 4).hash();
  };
  const auto base = hash({.filters = 8, .kernel = 3}, 4);
  CHECK(base == hash({.filters = 8, .kernel = 3}, 4));
  CHECK(base != hash({.filters = 8, .kernel = 3}, 5));
  CHECK(base != hash({.filters = 9, .kernel = 3}, 4));
  CHECK(base != hash({.filters = 8, .kernel = {1, 3}}, 4));
  CHECK(base != hash({.filters = 8, .kernel = 3, .bias = false}, 4));
}

namespace {

constexpr std::int64_t kIn = 90, kOut = 40;  // fans of a (40, 10, 3, 3) kernel: 10 * 9, and 40 as given below

std::vector<float> draw(const Initializer& initializer, const Shape& shape = {200, 10, 3, 3}) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  initializer.fill(shape, kIn, kOut, {7, Purpose::kWeights, 0, 3}, values);
  return values;
}

struct Moments {
  double mean = 0, deviation = 0, largest = 0;

  explicit Moments(const std::vector<float>& values) {
    const auto n = static_cast<double>(values.size());
    for (const float value : values) {
      mean += static_cast<double>(value) / n;
      largest = std::max(largest, static_cast<double>(std::abs(value)));
    }
    for (const float value : values) deviation += std::pow(static_cast<double>(value) - mean, 2) / n;
    deviation = std::sqrt(deviation);
  }
};

/// Checks 18,000 numbers: the mean to four standard errors, the standard deviation to 3 %, and no number
/// beyond `limit`.
void check_moments(const Initializer& initializer, double mean, double deviation, double limit) {
  const Moments m(draw(initializer));
  INFO(initializer.write().to_string());
  CHECK(std::abs(m.mean - mean) < 4 * deviation / std::sqrt(18000.0));
  CHECK(m.deviation == Approx(deviation).epsilon(0.03));
  CHECK(m.largest <= limit * (1 + 1e-6));
  if (limit < 10) CHECK(m.largest > 0.97 * limit);
}

constexpr double kNone = 1e9;
// Returns the limits of a normal distribution truncated at two, which Keras widens to get the requested
// standard deviation.
double cut(double deviation) { return 2 * deviation / 0.87962566103423978; }

}  // namespace

TEST_CASE("initializers have the moments and limits of Keras' and PyTorch's formulas") {
  const double in = kIn, both = kIn + kOut;
  const auto uniform = [](const Initializer& initializer, double deviation) {
    check_moments(initializer, 0, deviation, std::sqrt(3.0) * deviation);
  };
  uniform("glorot_uniform", std::sqrt(2 / both));
  uniform("he_uniform", std::sqrt(2 / in));
  uniform("lecun_uniform", std::sqrt(1 / in));
  uniform(Initializer(Settings{{"name", "glorot_uniform"}, {"gain", 2}}), 2 * std::sqrt(2 / both));
  check_moments("glorot_normal", 0, std::sqrt(2 / both), cut(std::sqrt(2 / both)));
  check_moments("he_normal", 0, std::sqrt(2 / in), cut(std::sqrt(2 / in)));
  check_moments("lecun_normal", 0, std::sqrt(1 / in), cut(std::sqrt(1 / in)));
  // PyTorch: nn.Conv2d and nn.Linear start within 1 / sqrt(fan_in); kaiming_normal_(mode="fan_out",
  // nonlinearity="relu"), as torchvision's ResNets; xavier_normal_(gain=0.5).
  check_moments("torch_default", 0, std::sqrt(1 / (3 * in)), 1 / std::sqrt(in));
  uniform(Initializer(Settings{{"name", "kaiming_uniform"}, {"a", 0}}), std::sqrt(2 / in));
  check_moments("kaiming_normal", 0, std::sqrt(2 / in), kNone);
  check_moments(Initializer(Settings{{"name", "kaiming_normal"}, {"mode", "fan_out"}}), 0,
                std::sqrt(2.0 / kOut), kNone);
  check_moments(Initializer(Settings{{"name", "xavier_normal"}, {"gain", 0.5}}), 0, 0.5 * std::sqrt(2 / both),
                kNone);
  // Keras' RandomUniform, RandomNormal and TruncatedNormal, which is not widened.
  check_moments("uniform", 0, 0.1 / std::sqrt(12.0), 0.05);
  check_moments(Initializer(Settings{{"name", "uniform"}, {"minval", 1}, {"maxval", 3}}), 2,
                2 / std::sqrt(12.0), 3);
  check_moments("normal", 0, 0.05, kNone);
  check_moments(Initializer(Settings{{"name", "normal"}, {"mean", 2}, {"stddev", 0.5}}), 2, 0.5, kNone);
  check_moments("truncated_normal", 0, 0.05 * 0.87962566103423978, 0.1);
  CHECK(draw("zeros", {3}) == std::vector<float>(3, 0.0F));
  CHECK(draw("ones", {3}) == std::vector<float>(3, 1.0F));
  CHECK(draw(Initializer(Settings{{"name", "constant"}, {"value", 0.25}}), {3}) ==
        std::vector<float>(3, 0.25F));
}

TEST_CASE("orthogonal: rows, or columns if they are fewer, are orthogonal and of length gain") {
  for (const Shape& shape : {Shape{12, 5, 3, 1}, Shape{30, 7}, Shape{8, 8}}) {
    const auto rows = static_cast<std::size_t>(shape[0]);
    const std::size_t columns = static_cast<std::size_t>(shape.elements()) / rows;
    const std::vector<float> w = draw(Initializer(Settings{{"name", "orthogonal"}, {"gain", 1.5}}), shape);
    const std::size_t count = std::min(rows, columns), length = std::max(rows, columns);
    const auto at = [&](std::size_t i, std::size_t k) {
      return static_cast<double>(rows <= columns ? w[i * columns + k] : w[k * columns + i]);
    };
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t k = 0; k < length; ++k) product += at(i, k) * at(j, k);
        CHECK(product == Approx(i == j ? 2.25 : 0).margin(1e-5));
      }
    }
  }
}

TEST_CASE("glorot_uniform gives the numbers of version 0.1") {
  // Values of the enum that the table replaced: 2 u - 1 of the stream at the key, times the limit.
  const std::vector<float> values = draw("glorot_uniform", {4});
  RandomStream random({7, Purpose::kWeights, 0, 3});
  const double limit = std::sqrt(6.0 / static_cast<double>(kIn + kOut));
  for (const float value : values) CHECK(value == static_cast<float>((2 * random.uniform() - 1) * limit));
}

TEST_CASE("initializers by the names of both frameworks, and their errors") {
  const auto written = [](const Settings& settings) { return Initializer(settings).write().to_string(); };
  CHECK(written({{"name", "random_normal"}}) == "\"normal\"");
  CHECK(written({{"name", "random_uniform"}}) == "\"uniform\"");
  CHECK(written({{"name", "xavier_uniform"}}) == "\"glorot_uniform\"");
  CHECK(written({{"name", "trunc_normal"}, {"stddev", 0.02}}) ==
        "{ name = \"truncated_normal\", mean = 0.0, stddev = 0.02 }");
  CHECK(Initializer("torch_default") == Initializer("kaiming_uniform"));
  CHECK(error_of([] { Initializer("he_norma"); }) ==
        "unknown initializer \"he_norma\" (did you mean \"he_normal\"?)");
  CHECK(error_of([&] {
          written({{"name", "normal"}, {"stddev", -1}});
        }) == "initializer: \"stddev\" must be at least 0, but is -1");
  CHECK(error_of([&] {
          written({{"name", "uniform"}, {"minval", 1}});
        }) == "initializer: \"minval\" must be at most \"maxval\", but is 1");
  CHECK(error_of([&] {
          written({{"name", "kaiming_normal"}, {"mode", "fan"}});
        }) == "initializer: \"mode\" must be \"fan_in\" or \"fan_out\", but is \"fan\"");
  CHECK(error_of([&] {
          written({{"name", "he_normal"}, {"gain", 2}});
        }).starts_with("initializer: unknown key \"gain\""));
}

TEST_CASE("layers with weights read initializer and bias_initializer, and write them back") {
  const Value table(Settings{{"name", "orthogonal"}, {"gain", 2.0}});
  for (Settings settings : {Settings{{"layer", "dense"}, {"units", 5}},
                            Settings{{"layer", "conv2d"}, {"filters", 4}, {"kernel", 2}}}) {
    const Settings plain = make_layer(settings)->settings();
    CHECK(plain.find("initializer") == nullptr);  // at its default
    settings.set("initializer", table);
    settings.set("bias_initializer", "torch_default");
    const Settings whole = make_layer(settings)->settings();
    REQUIRE(whole.find("initializer") != nullptr);
    CHECK(*whole.find("initializer") == table);
    CHECK(*whole.find("bias_initializer") == Value("kaiming_uniform"));
    CHECK(make_layer(whole)->settings() == whole);
  }
  // PyTorch's initial values of a layer: weights and bias within 1 / sqrt(fan_in).
  Graph graph({8, 6, 6});
  const Initializers torch{"torch_default", "torch_default"};
  flatten(conv2d(input(graph), {.filters = 64, .kernel = 3, .groups = 2, .initializers = torch}));
  const ParameterLayout layout(graph, 2);
  const AlignedBuffer<float> arena = initial_parameters(layout, 1);
  for (const auto& [name, values] : by_name(layout, arena.span())) {
    INFO(name);
    const Moments m({values.begin(), values.end()});
    CHECK(m.largest <= 1 / std::sqrt(4 * 9.0));
    CHECK(m.largest > 0.9 / std::sqrt(4 * 9.0));
  }
}
