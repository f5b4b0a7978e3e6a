// The gradient of a plan's input against finite differences of its loss.
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/plan/network.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

TEST_CASE("the gradient of the input equals finite differences, and changes no other gradient") {
  const Graph graph = build_graph(Shape{3, 6, 6}, {{{"layer", "conv2d"}, {"filters", 4}, {"kernel", 3}},
                                                   {{"layer", "batch_norm"}},
                                                   {{"layer", "silu"}},
                                                   {{"layer", "average_pool"}, {"size", 2}},
                                                   {{"layer", "flatten"}},
                                                   {{"layer", "dense"}, {"units", 3}}});
  const auto layout = std::make_shared<const ParameterLayout>(graph, 4);
  const AlignedBuffer<float> parameters = initial_parameters(*layout, 5);
  const std::vector<std::int32_t> labels{0, 2, 1, 1};
  const std::vector<std::uint32_t> ids{0, 1, 2, 3};
  const StepKey key{.seed = 1, .samples = ids};
  std::vector<float> samples;
  for (int i = 0; i < 4 * 108; ++i) samples.push_back(static_cast<float>(std::sin(0.3 + 1.7 * i)));

  const auto run = [&](bool wanted, Network& network, AlignedBuffer<float>& gradients) {
    network.bind(parameters.data(), gradients.data());
    std::copy(samples.begin(), samples.end(), network.input().begin());
    network.forward(key);
    const double loss = network.loss(labels, 4).loss / 4;
    if (wanted) network.backward([](std::size_t) {});
    return loss;
  };
  AlignedBuffer<float> gradients(layout->gradient_size()), plain_gradients(layout->gradient_size());
  Network with(graph, layout, {.micro_batch = 4, .input_gradient = true}),
      without(graph, layout, {.micro_batch = 4});
  run(true, without, plain_gradients);
  run(true, with, gradients);
  CHECK(std::equal(gradients.span().begin(), gradients.span().end(), plain_gradients.span().begin()));
  const std::vector<float> found(with.input_gradient().begin(), with.input_gradient().end());
  REQUIRE(found.size() == samples.size());
  for (std::size_t i = 0; i < samples.size(); i += 7) {
    const float before = samples[i];
    samples[i] = before + 0x1p-5F;
    const double above = run(false, with, gradients);
    samples[i] = before - 0x1p-5F;
    const double below = run(false, with, gradients);
    samples[i] = before;
    CHECK(found[i] == Approx((above - below) / 0x1p-4).epsilon(0.02).margin(2e-4));
  }
}
