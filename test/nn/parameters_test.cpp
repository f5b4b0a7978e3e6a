#include "convoke/nn/plan/parameters.hpp"

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
