#include "convoke/nn/initializer.hpp"

#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

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
