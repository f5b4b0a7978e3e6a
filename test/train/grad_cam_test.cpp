// Class-activation maps against PyTorch and against finite differences of the network behind the activations.
#include "convoke/train/grad_cam.hpp"

#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/split.hpp"
#include "convoke/nn/zoo.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::train;

namespace {

run::ModelDescription network_of(const Shape& input, const std::vector<Settings>& layers,
                                 const Settings& loss = {}) {
  return {.graph = nn::build_graph(input, layers),
          .normalization = {.scale = std::vector<float>(static_cast<std::size_t>(input[0]), 1.0F),
                            .shift = std::vector<float>(static_cast<std::size_t>(input[0]), 0.0F)},
          .class_names = {},
          .loss = nn::make_loss(loss)};
}

std::string mapped_node(const run::ModelDescription& model) {
  const std::optional<std::size_t> node = GradCam::node_of(model);
  return node ? model.graph.node(*node).name : "none";
}

// Numbers of about one, all different.
std::vector<float> waves(std::size_t count, double phase) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(std::sin(phase + 1.7 * static_cast<double>(i))));
  return values;
}

}  // namespace

TEST_CASE("class-activation maps equal PyTorch's") {
  // import torch, torch.nn.functional as F; d = torch.float64
  // x = torch.tensor([[(7*i + 3*j*j) % 11 for j in range(6)] for i in range(6)], dtype=d)[None, None]
  // w = torch.tensor([(5*i) % 13 - 6 for i in range(27)], dtype=d).reshape(3, 1, 3, 3) / 13
  // v = torch.tensor([(7*i) % 17 - 8 for i in range(24)], dtype=d).reshape(2, 12) / 17; v[1] = -v[1] * 2
  // A = F.relu(F.conv2d(x, w)).requires_grad_(); y = F.linear(F.max_pool2d(A, 2).flatten(1), v)
  // for k in (0, 1): g, = torch.autograd.grad(y[0, k], A, retain_graph=True)
  //   print(F.relu((g.mean((2, 3), keepdim=True) * A).sum(1)))
  const run::ModelDescription model =
      network_of({1, 6, 6}, {{{"layer", "conv2d"},
                              {"filters", 3},
                              {"kernel", 3},
                              {"padding", "valid"},
                              {"bias", false},
                              {"activation", "relu"}},
                             {{"layer", "max_pool"}, {"size", 2}},
                             {{"layer", "flatten"}},
                             {{"layer", "dense"}, {"units", 2}, {"bias", false}, {"activation", "softmax"}}});
  std::vector<float> parameters, sample;
  for (int i = 0; i < 27; ++i) parameters.push_back(static_cast<float>((5 * i) % 13 - 6) / 13);
  for (int i = 0; i < 24; ++i) {
    parameters.push_back(static_cast<float>((7 * i) % 17 - 8) / 17 * (i < 12 ? 1.0F : -2.0F));
  }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) sample.push_back(static_cast<float>((7 * i + 3 * j * j) % 11));
  const std::vector<std::int32_t> labels{0};
  const data::BatchLoader loader({std::span<const float>(sample), labels}, {1, 6, 6}, model.normalization);

  CHECK(mapped_node(model) == "relu_1");
  GradCam cam(model);
  cam.load(parameters);
  const std::vector<std::int64_t> classes{0, 1};
  const std::vector<ActivationMap> maps = cam.maps(loader, 0, classes);
  const std::vector<std::vector<double>> expected{
      {0, 0, 0.011877828054298642, 0, 0, 0, 0, 0, 0.017816742081447966, 0, 0.02545248868778281, 0, 0, 0, 0,
       0},
      {0, 0, 0.007918552036199091, 0.14479638009049775, 0.12669683257918543, 0.13857466063348414,
       0.23076923076923075, 0, 0.011877828054298638, 0.18665158371040716, 0.0169683257918552,
       0.2398190045248868, 0.21266968325791855, 0, 0, 0.09389140271493207}};
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(maps[k].height == 4);
    CHECK(maps[k].width == 4);
    for (std::size_t i = 0; i < 16; ++i)
      CHECK(maps[k].values[i] == Approx(expected[k][i]).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("class-activation maps equal finite differences, with batch norms, dropout and a residual block") {
  const std::vector<Settings> backbone{
      {{"layer", "conv2d"}, {"filters", 4}, {"kernel", 3}, {"padding", "same"}, {"name", "first"}},
      {{"layer", "conv2d"}, {"filters", 4}, {"kernel", 3}, {"padding", "same"}, {"name", "second"}},
      {{"layer", "batch_norm"}, {"name", "norm"}},
      {{"layer", "add"}, {"inputs", Value::Array{"norm", "first"}}, {"name", "sum"}},
      {{"layer", "relu"}, {"name", "last"}}};
  std::vector<Settings> layers = backbone;
  for (const Settings& layer :
       {Settings{{"layer", "average_pool"}, {"size", 2}}, Settings{{"layer", "flatten"}},
        Settings{{"layer", "dropout"}, {"rate", 0.5}},
        Settings{{"layer", "dense"}, {"units", 5}, {"activation", "tanh"}}, Settings{{"layer", "batch_norm"}},
        Settings{{"layer", "dropout"}, {"rate", 0.3}}})
    layers.push_back(layer);
  for (const bool binary : {false, true}) {
    layers.push_back({{"layer", "dense"}, {"units", binary ? 1 : 3}});
    run::ModelDescription model = network_of({2, 6, 6}, layers);
    layers.pop_back();
    if (binary) {
      model.loss = nn::make_loss({{"name", "sigmoid_cross_entropy"}});
      model.class_count = 2;
    }
    REQUIRE(mapped_node(model) == "last");
    std::vector<float> parameters;
    for (const engine::CanonicalParameter& p : engine::canonical_parameters(model.graph)) {
      std::vector<float> values = waves(p.size(), static_cast<double>(p.offset));
      if (p.name.ends_with("running_variance")) {
        for (float& value : values) value = value * value + 0.5F;
      }
      parameters.insert(parameters.end(), values.begin(), values.end());
    }
    const std::vector<float> sample = waves(72, 0.3);
    const std::vector<std::int32_t> labels{0};
    const Shape shape{2, 6, 6};
    const data::BatchLoader loader({std::span<const float>(sample), labels}, shape, model.normalization);
    GradCam cam(model);
    cam.load(parameters);
    const std::vector<std::int64_t> classes{0, 1};
    const std::vector<ActivationMap> maps = cam.maps(loader, 0, classes);

    // The same by prediction alone.
    const std::size_t node = *GradCam::node_of(model);
    engine::Evaluator front(nn::prefix_of(model.graph, node)), back(nn::suffix_of(model.graph, node));
    front.load(std::span(parameters).first(front.parameter_values()));
    back.load(std::span(parameters).subspan(front.parameter_values()));
    std::vector<float> a = front.raw(loader, std::vector<std::uint32_t>{0});
    REQUIRE(a.size() == 4 * 36);
    for (const std::int64_t label : classes) {
      const auto score = [&] {
        const std::vector<float> y = back.raw(a);
        if (binary) return label == 1 ? static_cast<double>(y[0]) : -static_cast<double>(y[0]);
        return static_cast<double>(y[static_cast<std::size_t>(label)]);
      };
      std::vector<double> sums(36);
      double largest = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        double weight = 0;
        for (std::size_t i = 0; i < 36; ++i) {
          const float before = a[k * 36 + i];
          a[k * 36 + i] = before + 0x1p-6F;
          const double above = score();
          a[k * 36 + i] = before - 0x1p-6F;
          weight += (above - score()) / 0x1p-5 / 36;
          a[k * 36 + i] = before;
        }
        for (std::size_t i = 0; i < 36; ++i) sums[i] += weight * static_cast<double>(a[k * 36 + i]);
      }
      for (const double sum : sums) largest = std::max(largest, sum);
      for (std::size_t i = 0; i < 36; ++i)
        CHECK(maps[static_cast<std::size_t>(label)].values[i] ==
              Approx(std::max(0.0, sums[i])).margin(1e-3 * largest + 1e-6));
    }
  }
}

TEST_CASE("maps are of the last convolution, with what follows at its size") {
  const auto zoo = [](const std::string& name) {
    return mapped_node({.graph = nn::make_zoo_model(name), .normalization = {}, .class_names = {}});
  };
  CHECK(zoo("resnet18") == "relu_17");  // the sum of the last block
  CHECK(zoo("vgg16") == "relu_13");
  const Settings dense{{"layer", "dense"}, {"units", 3}}, flatten{{"layer", "flatten"}};
  const Settings conv{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}};
  CHECK(mapped_node(network_of({1, 6, 6}, {conv, flatten, dense})) == "conv2d_1");
  CHECK(mapped_node(network_of({6, 4, 4}, {flatten, dense})) == "none");  // no convolution
  // One output for three classes is no score.
  run::ModelDescription graded = network_of({1, 6, 6}, {conv, flatten, {{"layer", "dense"}, {"units", 1}}},
                                            {{"name", "mean_squared_error"}});
  graded.class_count = 3;
  CHECK(mapped_node(graded) == "none");
}
