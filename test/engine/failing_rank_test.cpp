#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/engine/replica.hpp"
#include "convoke/engine/step_engine.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// A rank that cannot read its samples: no other rank waits for it for ever, and all throw its error.

using namespace convoke;
using namespace convoke::engine;

namespace {

constexpr std::int64_t kSamples = 64;

/// Pictures in a file of this rank alone, which are read when they are needed.
struct Streamed {
  TemporaryFolder folder;
  fs::path file = folder / "samples.h5";
  data::Dataset dataset;
  data::BatchLoader loader;

  Streamed()
      : dataset(write_and_open()),
        loader(dataset.split("train"), Shape{1, 8, 8}, data::Normalization{{1.0F / 255}, {0}}) {}

  void truncate() const { fs::resize_file(file, 64); }

 private:
  data::Dataset write_and_open() const {
    auto writer = data::DatasetWriter::create(file, {.sample_shape = Shape{1, 8, 8}, .classes = 4},
                                              {{"train", kSamples}}, true);
    const tiny::Pictures pictures(kSamples);
    writer.write("train", 0, pictures.samples, pictures.labels);
    writer.finish();
    return data::Dataset::open(file, {"train"}, data::private_storage(0));
  }
};

EngineOptions options_of(Reduction reduction, int threads) {
  EngineOptions options = engine::options(reduction, threads);
  options.batch = kSamples;
  return options;
}

}  // namespace

TEST_CASE("a rank that fails within a step makes all ranks throw its error, and all can go on") {
  const auto optimizer = optim::make_optimizer({{"name", "sgd"}});
  const std::vector<std::uint32_t> ids = tiny::Pictures(kSamples).ids();
  const int failing = world().size() - 1;
  for (const bool synchronized : {false, true}) {
    for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
      for (const int threads : {1, 3}) {
        for (const int good_steps : {0, 2}) {
          CAPTURE(synchronized, threads, good_steps);
          const nn::Graph network = normalized(synchronized);
          const Streamed samples;
          std::string message;
          {
            StepEngine engine(network, options_of(reduction, threads), samples.loader, *optimizer, world());
            for (int i = 0; i < good_steps; ++i) engine.step(0, ids, 0.1);
            if (world().rank() == failing) samples.truncate();
            message = error_of([&] { engine.step(0, ids, 0.1); });
            CHECK(engine.steps_done() == good_steps);
          }
          CHECK(message == world().broadcast(message, failing));
          CHECK_THAT(message, Contains("samples.h5"));
          // The ranks are still synchronized: they can sum and train again.
          const Streamed others;
          StepEngine engine(network, options_of(reduction, threads), others.loader, *optimizer, world());
          CHECK(std::isfinite(engine.step(0, ids, 0.1).loss));
        }
      }
    }
  }
}

TEST_CASE("ranks that train on their own learn of a failure when they synchronize") {
  const auto optimizer = optim::make_optimizer({{"name", "sgd"}});
  const auto strategy = sync::make_strategy({{"name", "local-sgd"}});
  const std::vector<std::uint32_t> ids = tiny::Pictures(kSamples).ids();
  const int failing = world().size() - 1;
  const Streamed samples;
  const nn::Graph network = normalized(false);
  Replica replica(network, options_of(Reduction::kFast, 1), samples.loader, *optimizer, world(), *strategy,
                  0);
  replica.step(0, ids, 0.1, {});
  CHECK(replica.synchronize().samples == kSamples);
  if (world().rank() == failing) samples.truncate();
  for (int step = 0; step < 3; ++step) replica.step(0, ids, 0.1, {});
  const std::string message = error_of([&] { replica.synchronize(); });
  CHECK(message == world().broadcast(message, failing));
  CHECK_THAT(message, Contains("samples.h5"));
}

TEST_CASE("a rank that fails in an evaluation makes all ranks throw its error") {
  const Streamed samples;
  Evaluator evaluator(tiny::graph());
  evaluator.load(tiny::parameters());
  const std::vector<std::uint32_t> ids = tiny::Pictures(kSamples).ids();
  CHECK(score(evaluator, samples.loader, ids, world()).samples == kSamples);
  if (world().root()) samples.truncate();
  const std::string message = error_of([&] { score(evaluator, samples.loader, ids, world()); });
  CHECK(message == world().broadcast(message));
  CHECK_THAT(message, Contains("samples.h5"));
}
