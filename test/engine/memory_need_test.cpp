#include "convoke/engine/memory_need.hpp"

#include "convoke/engine/gradient_sums.hpp"
#include "convoke/nn/layer_table.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// The predicted memory against the memory of engines and evaluators, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::engine;

namespace {

/// Returns a graph so wide that a worker runs its micro-batches in several segments.
nn::Graph wide() {
  return nn::build_graph(Shape{1, 8, 8},
                         std::vector<Settings>{{{"layer", "conv2d"}, {"filters", 1024}, {"kernel", 3}},
                                               {{"layer", "conv2d"}, {"filters", 8}, {"kernel", 1}},
                                               {{"layer", "flatten"}},
                                               {{"layer", "dense"}, {"units", 4}}});
}

}  // namespace

TEST_CASE("the predicted memory equals that of an engine after an epoch") {
  const tiny::Pictures pictures(2 * 32 + 21);  // the last step has five micro-batches and a smaller one
  const data::BatchLoader loader = pictures.loader();
  const auto adam = optim::make_optimizer({{"name", "adam"}});
  const std::vector<std::uint32_t> ids = pictures.ids();
  for (const nn::Graph& graph : {tiny::graph(), wide(), normalized(true)}) {
    for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
      for (const int threads : {1, 2, 3}) {
        EngineOptions with = options(reduction, threads);
        if (threads == 2) with.update.state_precision = nn::Precision::kBfloat16;
        if (threads > 1) with.sharing = ModelSharing::kNone;  // the ranks exchange as those of several nodes
        if (threads == 3) with.wire = sync::Wire::kBfloat16;
        const MemoryNeed need =
            predict_memory(graph, with, *adam, static_cast<std::int64_t>(ids.size()), true, world().rank(),
                           world().size(), node_place(model_ranks(with, world()).sharing, world()));
        StepEngine engine(graph, with, loader, *adam, world());
        for (std::size_t first = 0; first < ids.size(); first += 32) {
          engine.step(0, std::span(ids).subspan(first, std::min<std::size_t>(32, ids.size() - first)), 1e-3);
        }
        CAPTURE(graph.node(1).name, reduction == Reduction::kExact, threads, world().size());
        CHECK(need.activations == engine.plan_bytes());
        CHECK(need.exchange == engine.exchange_bytes());
        CHECK((need.exchange > 0) == (threads > 1 && world().size() > 1));
        CHECK(need.parameters == engine.parameters().size_bytes());
        CHECK(need.optimizer_state == 2 * engine.optimizer_state(0).bytes());
        // A worker has sums in floats, and with exact also in fixed point, or gradients of a second segment.
        const std::size_t sums = sizeof(float) * static_cast<std::size_t>(graph.trainable_count());
        CHECK(need.gradients >= sums * (reduction == Reduction::kExact ? 3 : 1));
        CHECK(need.evaluation > need.parameters);
        CHECK(need.total() > need.activations + need.evaluation);
      }
    }
  }
}

TEST_CASE("a rank has memory for all micro-batches that it may get by its speed") {
  const auto sgd = optim::make_optimizer({{"name", "sgd"}});
  EngineOptions balanced = options(Reduction::kFast, 1), alone = balanced;  // eight micro-batches
  balanced.balance = true;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    alone.batch = alone.micro_batch * (8 - (ranks - 1));  // the others keep one micro-batch each
    const std::size_t expected =
        predict_memory(normalized(true), alone, *sgd, alone.batch, false, 0, 1).activations;
    for (int rank = 0; rank < ranks; ++rank) {
      CHECK(predict_memory(normalized(true), balanced, *sgd, 32, false, rank, ranks).activations == expected);
    }
  }
}

TEST_CASE("workers that may take micro-batches from each other have memory for a plan of one micro-batch") {
  const auto sgd = optim::make_optimizer({{"name", "sgd"}});
  const auto bytes = [&](const EngineOptions& options) {
    return predict_memory(tiny::graph(), options, *sgd, 32, false, 0, 1).activations;
  };
  const EngineOptions equal = options(Reduction::kFast, 2);  // each runs its four micro-batches as one plan
  EngineOptions balanced = equal, one_micro_batch = options(Reduction::kFast, 1);
  balanced.balance = true;
  one_micro_batch.batch = one_micro_batch.micro_batch;
  CHECK(bytes(balanced) == bytes(equal) + 2 * bytes(one_micro_batch));
  EngineOptions alone = balanced;
  alone.threads = 1;
  CHECK(bytes(alone) == bytes(options(Reduction::kFast, 1)));
}

TEST_CASE("the prediction grows with micro-batch, average and evaluation, and allocates nothing") {
  const nn::Graph graph = wide();
  const auto sgd = optim::make_optimizer({{"name", "sgd"}});
  EngineOptions with = options(Reduction::kExact, 1);
  const MemoryNeed small = predict_memory(graph, with, *sgd, 64, false, 0, 1);
  CHECK(small.evaluation == 0);
  with.micro_batch = 16;
  const MemoryNeed large = predict_memory(graph, with, *sgd, 64, false, 0, 1);
  CHECK(large.activations > 3 * small.activations);
  CHECK(large.parameters == small.parameters);
  with.update.ema = 0.9;
  CHECK(predict_memory(graph, with, *sgd, 64, false, 0, 1).optimizer_state ==
        large.optimizer_state + large.parameters);
  with.update = {.state_precision = nn::Precision::kBfloat16};
  const auto adam = optim::make_optimizer({{"name", "adam"}});
  const std::size_t halves = predict_memory(graph, with, *adam, 64, false, 0, 1).optimizer_state;
  with.update = {};
  CHECK(2 * halves == predict_memory(graph, with, *adam, 64, false, 0, 1).optimizer_state);

  // Activations of 128 GiB can be predicted.
  with.batch = with.micro_batch = std::int64_t{1} << 20;
  CHECK(predict_memory(graph, with, *sgd, with.batch, false, 0, 1).activations > std::size_t{128} << 30);
}
