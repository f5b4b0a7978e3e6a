#include "convoke/engine/step_engine.hpp"
#include "convoke/nn/backend.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/counted_allocations.hpp"
#include "support/differences.hpp"
#include "support/replaced_calls.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// Synchronized batch norm in training: one group is the whole batch, however its micro-batches are
// distributed.

using namespace convoke;
using namespace convoke::engine;

namespace {

nn::Graph graph(bool synchronized) {
  return nn::build_graph(
      Shape{1, 8, 8},
      {{{"layer", "conv2d"}, {"filters", 8}, {"kernel", 3}, {"bias", false}},
       {{"layer", "batch_norm"}, {"momentum", 0.9}, {"synchronized", synchronized}, {"activation", "relu"}},
       {{"layer", "max_pool"}, {"size", 2}},
       {{"layer", "conv2d"}, {"filters", 20}, {"kernel", 2}, {"bias", false}},
       {{"layer", "batch_norm"}, {"momentum", 0.9}, {"synchronized", synchronized}},
       {{"layer", "flatten"}},
       {{"layer", "dropout"}, {"rate", 0.2}},
       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
}

/// Returns the canonical parameters, statistics included, after `steps` steps of 32 samples and one of 21:
/// micro-batches of 4 and a last micro-batch of 1.
std::vector<float> trained_synchronized(const mpi::Communicator& group, const EngineOptions& options,
                                        int steps, bool synchronized = true) {
  const EngineTask task(128, {{"name", "sgd"}}, graph(synchronized));
  StepEngine engine = task.engine(options, group);
  for (int i = 0; i < steps; ++i) {
    const auto samples = std::span(task.ids).subspan(static_cast<std::size_t>(i % 4) * 32, 32);
    CHECK(std::isfinite(engine.step(static_cast<std::uint32_t>(i / 4), samples, 0.05).loss));
    if (i == steps / 2) CHECK(std::isfinite(engine.step(99, std::span(task.ids).first(21), 0.05).loss));
  }
  return unpack(canonical_parameters(task.graph), engine.layout(), engine.parameters());
}

}  // namespace

TEST_CASE("synchronized, exact: any number of ranks and threads gives the same bits, also in bf16") {
  const nn::Backend here = nn::backend();
  for (const nn::Precision precision : {nn::Precision::kFloat32, nn::Precision::kBfloat16}) {
    if (precision == nn::Precision::kBfloat16 && !here.native_bf16 && !here.emulates_bf16) continue;
    CAPTURE(precision == nn::Precision::kBfloat16);
    same_on_any_ranks_and_threads([&](const mpi::Communicator& group, int threads) {
      EngineOptions chosen = options(Reduction::kExact, threads);
      chosen.precision = precision;
      return trained_synchronized(group, chosen, 8);
    });
  }
}

// A single micro-batch that is the whole batch needs no synchronization. With micro-batches as groups the
// model differs.
TEST_CASE("synchronized: the result does not depend on micro-batches") {
  const std::vector<float> whole = trained_synchronized(alone(), options(Reduction::kFast, 1, 32), 8, false);
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    for (const std::int64_t micro_batch : {4, 16}) {
      for (const int threads : {1, 3})
        CHECK(relative_difference(trained_synchronized(world(), options(reduction, threads, micro_batch), 8),
                                  whole) < 1e-5);
    }
  }
  CHECK(relative_difference(trained_synchronized(alone(), options(Reduction::kFast), 8, false), whole) >
        1e-3);
}

TEST_CASE("synchronized: with more ranks and threads than micro-batches, idle ones take part in every sum") {
  const std::vector<float> reference = trained_synchronized(alone(), options(Reduction::kExact, 1, 16), 3);
  CHECK(trained_synchronized(world(), options(Reduction::kExact, 4, 16), 3) == reference);
}

TEST_CASE("synchronized: a step allocates nothing after the first, and makes one sum for each stop") {
  const EngineTask task(32, {{"name", "adam"}}, graph(true));
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    for (const int threads : {1, 2}) {
      StepEngine engine = task.engine(options(reduction, threads), world());
      engine.step(0, task.ids, 1e-3);
      const long before = test::allocations();
      replaced::counts = {};
      for (int i = 0; i < 5; ++i) engine.step(0, task.ids, 1e-3);
      const long after = test::allocations();
      CHECK(after == before);
      CHECK(replaced::counts.allreduce == (world().size() == 1 ? 0 : 5 * (2 + 2)));
    }
  }
}

TEST_CASE("synchronized: a loss that is not finite is found on all ranks, and its layer is named") {
  const EngineTask task(32, {{"name", "sgd"}}, graph(true));
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    StepEngine engine = task.engine(options(reduction), world());
    engine.parameters()[engine.layout().slot("conv2d_1.weight").offset] = std::nanf("");
    CHECK(!std::isfinite(engine.step(0, task.ids, 0.1).loss));
    CHECK(engine.steps_done() == 0);
    CHECK(engine.diagnose().where == "conv2d_1 on rank 0");
  }
}

TEST_CASE("statistics that exact sums cannot hold are named, also those of the whole batch") {
  const auto cause = [](bool synchronized, float weight) {
    const EngineTask task(32, {{"name", "sgd"}}, graph(synchronized));
    StepEngine engine = task.engine(options(Reduction::kExact), world());
    const nn::ParameterSlot& slot = engine.layout().slot("conv2d_1.weight");
    std::ranges::fill(engine.parameters().subspan(slot.offset, slot.size), weight);
    world().barrier();  // the ranks share the parameters
    CHECK(!std::isfinite(engine.step(0, task.ids, 0.1).loss));
    return engine.diagnose();
  };
  for (const bool synchronized : {false, true}) {
    const StepEngine::Cause variance = cause(synchronized, 3e4F);
    CHECK(variance.too_large);
    CHECK_THAT(variance.where, StartsWith("the statistic batch_norm_1.running_variance ("));
  }
  CHECK_THAT(cause(true, 1e9F).where, StartsWith("the moments of a synchronized batch norm ("));
}
