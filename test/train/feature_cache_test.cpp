// The cached features of a frozen backbone give the same training as without the cache.
#include "convoke/train/feature_cache.hpp"

#include "convoke/nn/zoo.hpp"
#include "convoke/run/model_file.hpp"
#include "fine_tuning.hpp"
#include "support/catch.hpp"
#include "support/differences.hpp"
#include "support/error_of.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace fine_tuning;
using train::FeatureCache;
using train::Job;

namespace {

Job cached(Job job, std::int64_t views = 1) {
  job.cache_features = views;
  return job;
}

std::int64_t sum(const mpi::Communicator& group, std::int64_t value) {
  group.sum(std::span(&value, 1));
  return value;
}

/// Weights for all but the head.
std::shared_ptr<const run::InitialWeights> backbone_weights() {
  const std::vector<engine::CanonicalParameter> parameters = engine::canonical_parameters(network({}));
  run::InitialWeights weights{.values = std::vector<float>(engine::canonical_values(parameters)),
                              .given = std::vector<bool>(parameters.size(), true),
                              .initialized = {},
                              .unused = {}};
  for (std::size_t i = 0; i < weights.values.size(); ++i)
    weights.values[i] = static_cast<float>(0.2 * std::sin(0.37 * static_cast<double>(i)));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name.starts_with("head.")) weights.given[i] = false;
    if (!parameters[i].name.ends_with("variance")) continue;
    std::fill_n(weights.values.begin() + static_cast<std::ptrdiff_t>(parameters[i].offset),
                parameters[i].size(), 1.0F);
  }
  return std::make_shared<const run::InitialWeights>(std::move(weights));
}

/// Micro-batches of whole groups of 6 and of 8 samples: so many a matrix product takes at once with AVX2 and
/// AVX-512. No sample of such a micro-batch is rounded in another way than the others (docs/transfer.md).
Job with_even_micro_batches(Job job) {
  job.engine.micro_batch = 24;
  job.engine.batch = 48;
  return job;
}

/// Trains the head, then from epoch to epoch the layers before it, too: the frozen part ends before "head",
/// before "hidden", before "conv2" and nowhere.
Job moving() {
  Job result = with_even_micro_batches(job({"before:head"}));
  result.samples.validation_split = 0.2;
  result.loop.epochs = 6;
  result.loop.stages = {{.epoch = 2, .unfreeze = {"hidden"}},
                        {.epoch = 4, .unfreeze = {"conv2"}, .learning_rate = 0.005},
                        {.epoch = 6, .unfreeze = {"conv1"}}};
  result.engine.update.ema = 0.9;
  return result;
}

std::shared_ptr<const data::Augmenter> flips() {
  data::AugmentOptions options;
  options.rotation_range = 20;
  options.horizontal_flip = true;
  options.brightness_range = {0.7, 1.3};
  return std::make_shared<const data::Augmenter>(options, Shape{1, 8, 8}, data::SampleType::kUint8);
}

}  // namespace

TEST_CASE("exact: the model is bit-identical with and without the cache, for any ranks and threads") {
  const tiny::Pictures pictures(168);  // whole micro-batches: 3 * 48 + 24
  for (const std::vector<std::string>& frozen :
       {std::vector<std::string>{"before:hidden"}, {"conv1", "norm1"}, {"conv1"}, {"before:head"}}) {
    INFO("frozen: " << frozen.front());
    Job wanted = with_even_micro_batches(job(frozen));
    wanted.engine.update.ema = 0.9;
    const std::vector<float> expected = alone(wanted, pictures, world());
    for (const int threads : {1, 2}) {
      wanted.engine.threads = threads;
      const Result found = train_all(cached(wanted), pictures, world());
      CHECK(found.parameters() == expected);
      CHECK(sum(world(), found.phases.features.computed) == 168);
      CHECK(sum(world(), found.phases.features.read) == 4 * 168);
    }
  }
}

TEST_CASE("exact: with as many views as epochs, augmented training equals that without the cache") {
  const tiny::Pictures pictures(152);
  Job wanted = job({"conv1", "norm1"});
  wanted.augmenter = flips();
  const std::vector<float> expected = alone(wanted, pictures, world());
  CHECK(train_all(cached(wanted, wanted.loop.epochs), pictures, world()).parameters() == expected);
  CHECK(train_all(cached(wanted, 1), pictures, world()).parameters() != expected);
}

TEST_CASE("exact: a whole backbone with dropout and stochastic depth is cached, and the result is the same") {
  const tiny::Pictures pictures(64);
  Job wanted = job({});
  wanted.loop.epochs = 2;
  wanted.model.graph = nn::make_zoo_model("efficientnet-b0", {.input = {1, 8, 8}, .classes = 4});
  nn::freeze(wanted.model.graph, nn::resolve_parts("efficientnet-b0", wanted.model.graph, {"backbone"}));
  const std::vector<float> expected = alone(wanted, pictures, world());
  const Result found = train_all(cached(wanted), pictures, world());
  CHECK(found.parameters() == expected);
  CHECK(found.phases.features.bytes == (world().root() ? 64 * 1280 * 4 : 0));
}

TEST_CASE("a smaller last micro-batch gives the same result up to rounding, and the same for any ranks") {
  const tiny::Pictures pictures(150);
  const Job wanted = job({"before:hidden"});
  const std::vector<float> without = train_all(wanted, pictures, world()).parameters();
  const std::vector<float> with = alone(cached(wanted), pictures, world());
  CHECK(train_all(cached(wanted), pictures, world()).parameters() == with);
  CHECK(largest_difference(with, without) < 1e-4);
}

TEST_CASE("the frozen part runs once per sample and view, also for validation samples") {
  const tiny::Pictures pictures(160);
  Job wanted = job({"before:hidden"});
  wanted.samples.validation_split = 0.2;
  const Result without = train_all(wanted, pictures, world());
  for (const std::int64_t views : {1, 3, 9}) {
    INFO(views << " views in 4 epochs");
    const Result found = train_all(cached(wanted, views), pictures, world());
    CHECK(sum(world(), found.phases.features.computed) == 160 * std::min<std::int64_t>(views, 4));
    if (views == 1 && world().size() == 1) CHECK(found.phases.features.hit_rate() == 0.75);
    CHECK(sum(world(), found.phases.features.read) == 4 * 160);
    CHECK(found.parameters() == without.parameters());
    CHECK(found.training.members[0].model.validation_accuracy ==
          without.training.members[0].model.validation_accuracy);
  }
}

TEST_CASE("a separate validation split has its own features, without augmentation") {
  const tiny::Pictures pictures(96), others(40);
  const data::BatchLoader validation = others.loader();
  Job wanted = with_even_micro_batches(job({"before:head"}));
  wanted.loop.epochs = 3;
  wanted.loop.stages = {{.epoch = 3, .unfreeze = {"hidden"}}};
  wanted.augmenter = flips();
  const data::BatchLoader training = pictures.loader(wanted.augmenter);
  const train::DataLoaders loaders(training, &validation);
  const auto score = [&](const Result& result) {
    return result.training.members[0].model.validation_accuracy;
  };
  const tiny::Run run(world()), other(world());
  const Result without = train_all(wanted, loaders, world(), other.folder);
  const Result found = train_all(cached(wanted, wanted.loop.epochs), loaders, world(), run.folder);
  CHECK(found.parameters() == without.parameters());
  CHECK(score(found) == score(without));
  // Two epochs with the first cache and one with the second, each with its validation.
  CHECK(sum(world(), found.phases.features.computed) == 3 * 96 + 2 * 40);
  CHECK(sum(world(), found.phases.features.read) == 3 * 96 + 3 * 40);
}

TEST_CASE("validation samples are not augmented, with and without the cache") {
  const tiny::Pictures pictures(160);
  Job wanted = job({"before:head"});
  wanted.samples.validation_split = 0.2;
  wanted.augmenter = flips();
  const Result without = train_all(wanted, pictures, world());
  const Result found = train_all(cached(wanted, wanted.loop.epochs), pictures, world());
  CHECK(found.training.members[0].model.validation_accuracy ==
        without.training.members[0].model.validation_accuracy);
}

TEST_CASE("exact: the cache moves with the stages, and training equals that without the cache") {
  const tiny::Pictures pictures(240);  // 192 of them are trained: whole micro-batches
  Job wanted = moving();
  const bool augmented = GENERATE(false, true);
  INFO((augmented ? "augmented" : "plain"));
  if (augmented) wanted.augmenter = flips();
  const std::vector<float> expected = alone(wanted, pictures, world());
  const std::int64_t views = augmented ? wanted.loop.epochs : 1;
  const Result found = train_all(cached(wanted, views), pictures, world());
  CHECK(found.parameters() == expected);
  // In epochs 1 to 5, but not in epoch 6, which trains everything.
  CHECK(sum(world(), found.phases.features.read) == 5 * (augmented ? 192 : 240));
  CHECK(sum(world(), found.phases.features.computed) == (augmented ? 5 : 3) * 240);
  // The largest cache is the last one: what conv2 reads.
  CHECK(sum(world(), found.phases.features.bytes) == 240 * 6 * 6 * 6 * 4 * (augmented ? 6 : 1));
  // Nothing is trained before the first stage.
  wanted.model.graph = network({"before:head", "head"});
  wanted.loop.stages.front().unfreeze = {"hidden", "head"};
  CHECK(train_all(cached(wanted, views), pictures, world()).parameters() == alone(wanted, pictures, world()));
}

TEST_CASE("the momentum of model averages is 0 for layers that a stage unfreezes, also behind a cache") {
  const tiny::Pictures pictures(240);
  Job wanted = moving();
  wanted.engine.batch = 96;  // a micro-batch for each of 4 ranks
  wanted.loop.strategy = sync::make_strategy({{"name", "local-sgd"}, {"momentum", 0.5}});
  CHECK(train_all(cached(wanted), pictures, world()).parameters() ==
        train_all(wanted, pictures, world()).parameters());
}

TEST_CASE("a run with a moving cache may be resumed in any stage, with or without the cache") {
  const tiny::Pictures pictures(240);
  const Job wanted = moving();
  const std::vector<float> expected = train_all(wanted, pictures, world()).parameters();
  // After the second epoch a run goes on without the cache.
  for (const std::vector<std::int64_t>& stops : {std::vector<std::int64_t>{1}, {2}, {3, 4, 5}}) {
    INFO("after epoch " << stops.front());
    const tiny::Run run(world());
    Job part = cached(wanted);
    for (const std::int64_t epochs : stops) {
      part.loop.epochs = epochs;
      CHECK(train_all(part, pictures, world(), run.folder, true).training.members[0].epochs_done == epochs);
    }
    CHECK(train_all(stops.front() == 2 ? wanted : cached(wanted), pictures, world(), run.folder, true)
              .parameters() == expected);
  }
}

TEST_CASE("a stage whose features fit neither into memory nor on the disk is trained without a cache") {
  const tiny::Pictures pictures(240);
  Job wanted = moving();
  const std::vector<float> expected = train_all(wanted, pictures, world()).parameters();
  wanted = cached(wanted);
  wanted.memory.cache_bytes = 240 * 12 * 4;  // the first cache, of what the dropout before the head reads
  const tiny::Run run(world());
  // No file can have the name of a folder.
  if (world().root()) fs::create_directory(train::feature_file(run.folder, world()));
  const Result found = train_all(wanted, pictures, world(), run.folder);
  CHECK(found.parameters() == expected);
  CHECK(sum(world(), found.phases.features.read) == 240);
}

TEST_CASE("a signal ends the computation of features within a micro-batch, and the run can be resumed") {
  const tiny::Pictures pictures(152);
  const Job wanted = cached(job({"before:hidden"}));
  SECTION("in one cache") {
    const data::BatchLoader loader = pictures.loader();
    const std::vector<float> parameters(engine::canonical_values(engine::canonical_parameters(network({}))));
    run::Phases phases;
    train::FeatureCache cache(wanted, train::cached_node(wanted, 0), loader, 1, parameters,
                              world().split_node(), "features.bin", phases);
    int micro_batches = world().root() ? 2 : 1000;  // until the root is asked to stop
    CHECK_FALSE(cache.select_epoch(0, [&] { return micro_batches-- == 0; }));
    CHECK_FALSE(cache.has(0));
    if (world().root()) CHECK(phases.features.computed == 2 * 8);
    CHECK(cache.select_epoch(0, [] { return false; }));
    CHECK(cache.has(0));
  }
  SECTION("in a run") {
    const std::vector<float> expected = train_all(wanted, pictures, world()).parameters();
    const bool shared = GENERATE(false, true);
    Job several = wanted;
    if (shared) {
      several.is_ensemble = true;
      several.ensemble.members = 2;
      several.weights = backbone_weights();
    }
    const std::vector<float> both = shared ? train_all(several, pictures, world()).parameters() : expected;
    const tiny::Run run(world());
    const Result found = tiny::interrupted(
        world(), [&] { return train_all(several, pictures, world(), run.folder); }, SIGTERM);
    CHECK(found.training.interrupted_by.to_string() == "SIGTERM");
    // Another member may finish before it hears of the signal.
    if (!shared || world().rank() == world().size() - 1) CHECK(found.training.members.at(0).steps == 0);
    if (world().rank() == world().size() - 1) CHECK(found.phases.features.computed == 0);
    CHECK(train_all(several, pictures, world(), run.folder, true).parameters() == both);
  }
}

TEST_CASE("features beyond the budget are in a file, which is removed at the end") {
  const tiny::Pictures pictures(152);
  Job wanted = job({"before:hidden"});
  const std::vector<float> expected = train_all(wanted, pictures, world()).parameters();
  wanted = cached(wanted);
  const std::int64_t bytes = 152 * 10 * 2 * 2 * 4;  // the pooled output of ten channels
  wanted.memory.cache_bytes = static_cast<std::size_t>(bytes);
  CHECK(sum(world(), train_all(wanted, pictures, world()).phases.features.file_bytes) == 0);
  wanted.memory.cache_bytes -= 1;
  const tiny::Run other(world());
  const Result found = train_all(wanted, pictures, world(), other.folder);
  CHECK(found.parameters() == expected);
  CHECK(sum(world(), found.phases.features.bytes) == bytes);
  CHECK(sum(world(), found.phases.features.file_bytes) == bytes);
  if (world().root()) {
    for (const auto& entry : fs::directory_iterator(other.folder.path()))
      CHECK(entry.path().extension() != ".bin");
  }
}

TEST_CASE("members with the same frozen weights share a cache, others have their own") {
  const tiny::Pictures pictures(152);
  Job wanted = job({"before:hidden"});
  wanted.is_ensemble = true;
  wanted.ensemble.members = 3;
  wanted.ensemble.shards = data::Sharding::kStratified;
  wanted.samples.validation_split = 0.1;
  const bool staged = GENERATE(false, true);
  if (staged) wanted.loop.stages = {{.epoch = 3, .unfreeze = {"conv2"}}};
  for (const bool given : {true, false}) {
    INFO((given ? "weights that are given" : "initial weights"));
    wanted.weights = given ? backbone_weights() : nullptr;
    wanted.cache_features = 0;
    const Result without = train_all(wanted, pictures, world());
    const Result found = train_all(cached(wanted, 2), pictures, world());
    CHECK(tiny::parameters_of_all(found.training, wanted, world()) ==
          tiny::parameters_of_all(without.training, wanted, world()));
    CHECK(sum(world(), found.phases.features.computed) == 2 * 152 * (given ? 1 : 3) * (staged ? 2 : 1));
  }
}

TEST_CASE(
    "memory of a node: all ranks read what a rank writes, in a window and in a file; a bad path is refused") {
  const mpi::Communicator node = world().split_node();
  const tiny::Run run(world());
  const fs::path place = run.folder.path() / "memory.bin";
  const auto rank = static_cast<std::size_t>(node.rank()), ranks = static_cast<std::size_t>(node.size());
  for (const std::size_t budget : {ranks, std::size_t{0}}) {
    const run::NodeMemory memory(node, ranks, budget, place);
    CHECK(memory.in_file() == (budget == 0));
    memory.bytes()[rank] = static_cast<std::byte>(rank + 1);
    memory.publish();
    for (std::size_t other = 0; other < ranks; ++other)
      CHECK(memory.bytes()[other] == static_cast<std::byte>(other + 1));
    CHECK(!fs::exists(place));
    node.barrier();
  }
  const std::string error = error_of([&] { run::NodeMemory(node, 64, 0, "/dev/null/memory.bin"); });
  CHECK(error == "/dev/null/memory.bin: cannot be created: Not a directory; the file needs 64 B");
}

TEST_CASE("a cache without a frozen backbone is refused") {
  const tiny::Pictures pictures(64);
  CHECK(error_of([&] { train_all(cached(job({"hidden"})), pictures, world()); }) ==
        "cache_features: the first layers of the network are not frozen: conv1 is trained");
}
