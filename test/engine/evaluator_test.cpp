#include "convoke/engine/evaluator.hpp"

#include "convoke/nn/backend.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"

using namespace convoke;
using engine::Evaluator;

namespace {

// Evaluates each sample separately in a network of one sample: no chunks, no threads, no padding.
std::vector<float> one_by_one(const nn::Graph& graph, std::span<const float> parameters,
                              const tiny::Pictures& pictures) {
  nn::single_threaded();
  const auto layout = std::make_shared<nn::ParameterLayout>(graph, 1);
  AlignedBuffer<float> arena(layout->size());
  engine::pack(engine::canonical_parameters(graph), *layout, parameters, arena.span());
  nn::Network network(graph, layout, {.micro_batch = 1, .micro_batches = 1, .training = false});
  network.bind(arena.data(), nullptr);
  std::vector<float> rows;
  for (const std::uint32_t id : pictures.ids()) {
    pictures.loader().load(std::span(&id, 1), network.input(), {});
    network.forward();
    rows.insert(rows.end(), network.output().begin(), network.output().end());
  }
  return rows;
}

void check_close(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::abs(a[i] - b[i]) < 1e-5F);
}

}  // namespace

TEST_CASE("probabilities equal those of single samples, for any chunk, threads and samples, also folded") {
  const tiny::Pictures pictures(53);
  const std::vector<float> expected = one_by_one(tiny::graph(), tiny::parameters(4), pictures);
  const auto check = [&](const engine::EvaluatorOptions& options) {
    CAPTURE(options.threads, options.chunk, options.samples, options.folded);
    Evaluator evaluator(tiny::graph(), options);
    CHECK(evaluator.parameter_values() == Evaluator(tiny::graph()).parameter_values());
    evaluator.load(tiny::parameters(4));
    check_close(evaluator.predict(pictures.loader(), pictures.ids()), expected);
  };
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t chunk : {1, 16, 53, 250}) check({.threads = threads, .chunk = chunk});
    for (const std::int64_t samples : {0, 1, 53, 250})
      check({.threads = threads, .samples = samples, .folded = true});
  }
  CHECK_THROWS_WITH(Evaluator(tiny::graph(), {.folded = true}).load(std::vector<float>(3)),
                    Contains("but 3 values are given for them"));
}

TEST_CASE("the chunk divides the samples of a call evenly among the workers; else the graph decides") {
  const auto chunk = [](int threads, std::int64_t samples) {
    return Evaluator(tiny::graph(), {.threads = threads, .samples = samples}).chunk();
  };
  CHECK(chunk(1, 1) == 1);
  CHECK(chunk(2, 33) == 17);
  CHECK(chunk(1, 300) == 150);  // at most 256
  CHECK(Evaluator(tiny::graph()).chunk() == Evaluator(tiny::graph(), {.threads = 2}).chunk());
  CHECK(Evaluator(tiny::graph()).chunk() == 256);  // 8 x 6 x 6 floats twice: far below the limit
}

TEST_CASE("texts of a partly filled last chunk are evaluated as all others") {
  const nn::Graph graph = nn::build_graph(nn::ValueSpec(Shape{8}, nn::ValueType::kToken),
                                          {{{"layer", "embedding"}, {"vocabulary", 10}, {"units", 24}},
                                           {{"layer", "conv1d"}, {"filters", 16}, {"kernel", 3}},
                                           {{"layer", "global_average_pool1d"}},
                                           {{"layer", "dense"}, {"units", 2}, {"activation", "softmax"}}});
  const nn::ParameterLayout layout(graph, 8);
  const std::vector<float> parameters =
      engine::unpack(engine::canonical_parameters(graph), layout, nn::initial_parameters(layout, 1).span());
  std::vector<float> tokens;
  for (std::uint32_t i = 0; i < 20 * 8; ++i) tokens.push_back(static_cast<float>(i * 7 % 10));
  const auto predicted = [&](std::int64_t chunk) {
    Evaluator evaluator(graph, {.chunk = chunk});
    evaluator.load(parameters);
    return evaluator.predict(tokens);
  };
  check_close(predicted(16), predicted(1));
}

TEST_CASE("parameters can be replaced") {
  const tiny::Pictures pictures(20);
  Evaluator evaluator(tiny::graph());
  evaluator.load(tiny::parameters(4));
  const std::vector<float> first = evaluator.predict(pictures.loader(), pictures.ids());
  evaluator.load(tiny::parameters(5));
  CHECK(evaluator.predict(pictures.loader(), pictures.ids()) != first);
  evaluator.load(tiny::parameters(4));
  CHECK(evaluator.predict(pictures.loader(), pictures.ids()) == first);
}

TEST_CASE("a graph that does not end in softmax also gives probabilities") {
  const tiny::Pictures pictures(20);
  Evaluator with(tiny::graph(true));
  Evaluator without(tiny::graph(false));
  with.load(tiny::parameters(4));
  without.load(tiny::parameters(4));
  check_close(without.predict(pictures.loader(), pictures.ids()),
              with.predict(pictures.loader(), pictures.ids()));
}

TEST_CASE("samples in memory give the same outputs as those of a data set") {
  const tiny::Pictures pictures(20);
  std::vector<float> samples(20 * 64);
  pictures.loader().load(pictures.ids(), samples, {});
  Evaluator evaluator(tiny::graph(), {.threads = 2, .chunk = 7});
  evaluator.load(tiny::parameters(4));
  CHECK(evaluator.predict(samples) == evaluator.predict(pictures.loader(), pictures.ids()));
  CHECK(evaluator.predict(std::span<const float>()).empty());
}

TEST_CASE("the loss of a sample is -log p, with p at least 1e-7") {
  const Evaluator evaluator(tiny::graph());
  const auto loss = [&](float p) {
    const float others = (1 - p) / 3;
    const float prediction[] = {others, p, others, others};
    return evaluator.loss(prediction, 0, 1);
  };
  CHECK(loss(0.25F) == Approx(1.3862943611).epsilon(1e-8));
  CHECK(loss(1.0F) == 0);
  CHECK(loss(0.0F) == Approx(16.1180956510).epsilon(1e-8));
  CHECK(std::isinf(loss(std::nanf(""))));
}

TEST_CASE("raw outputs are the network's own: logits, or values of any shape") {
  const tiny::Pictures pictures(20);
  std::vector<float> samples(20 * 64);
  pictures.loader().load(pictures.ids(), samples, {});
  {
    Evaluator evaluator(tiny::graph(false), {.threads = 2, .chunk = 8});
    evaluator.load(tiny::parameters(4));
    CHECK(evaluator.output_shape() == Shape{4});
    check_close(evaluator.raw(samples), one_by_one(tiny::graph(false), tiny::parameters(4), pictures));
  }
  // 2 x 2 means, computed by hand: (N, 1, 4, 4).
  const nn::Graph graph = nn::build_graph(Shape{1, 8, 8}, {{{"layer", "average_pool"}, {"size", 2}}});
  Evaluator evaluator(graph, {.threads = 2, .chunk = 8});
  evaluator.load({});
  CHECK(evaluator.output_shape() == Shape{1, 4, 4});
  std::vector<float> expected;
  for (std::size_t i = 0; i < 20 * 16; ++i) {
    const std::size_t corner = i / 4 * 16 + i % 4 * 2;  // two rows of 8 for each row of 4
    expected.push_back((samples[corner] + samples[corner + 1] + samples[corner + 8] + samples[corner + 9]) /
                       4);
  }
  check_close(evaluator.raw(samples), expected);
}
