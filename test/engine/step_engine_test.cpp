#include "convoke/engine/step_engine.hpp"

#include "convoke/core/timeline.hpp"
#include "convoke/nn/backend.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/counted_allocations.hpp"
#include "support/differences.hpp"
#include "support/error_of.hpp"
#include "support/replaced_calls.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// The micro-batch engine guarantees that the recipe alone decides what a step computes, not the distribution
// of its micro-batches.

using namespace convoke;
using namespace convoke::engine;
using namespace convoke::run;
using namespace convoke::train;

namespace {

/// Returns the parameters after `steps` steps of 32 samples and a last step of 21: five micro-batches and a
/// smaller one.
std::vector<float> trained(const mpi::Communicator& group, const EngineOptions& options, int steps,
                           const Settings& optimizer_settings = {{"name", "adam"}},
                           const nn::Graph& graph = tiny::graph()) {
  const EngineTask task(128, optimizer_settings, graph);
  StepEngine engine = task.engine(options, group);
  for (int i = 0; i < steps; ++i) {
    const auto samples = std::span(task.ids).subspan(static_cast<std::size_t>(i % 4) * 32, 32);
    CHECK(std::isfinite(engine.step(static_cast<std::uint32_t>(i / 4), samples, 1e-3).loss));
  }
  CHECK(std::isfinite(engine.step(99, std::span(task.ids).first(21), 1e-3).loss));
  const std::span<float> parameters = engine.parameters();
  return {parameters.begin(), parameters.end()};
}

}  // namespace

TEST_CASE("exact: any number of ranks and threads gives the same bits") {
  struct Run {
    std::string what;
    Settings optimizer{{"name", "adam"}};
    nn::Precision precision = nn::Precision::kFloat32;
    nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
    nn::Graph graph = tiny::graph();
  };
  const nn::Graph for_winograd = nn::build_graph(
      Shape{1, 8, 8}, {{{"layer", "conv2d"}, {"filters", 16}, {"kernel", 3}, {"padding", "same"}},
                       {{"layer", "conv2d"}, {"filters", 32}, {"kernel", 3}, {"activation", "relu"}},
                       {{"layer", "conv2d"}, {"filters", 16}, {"kernel", 3}, {"padding", "same"}},
                       {{"layer", "batch_norm"}},
                       {{"layer", "flatten"}},
                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
  const nn::Backend here = nn::backend();
  for (const Run& run : std::vector<Run>{
           {.what = "fp32"},
           {.what = "bf16", .precision = nn::Precision::kBfloat16},
           {.what = "Winograd", .convolution = nn::ConvolutionChoice::kWinograd, .graph = for_winograd},
           {.what = "whole parameters", .optimizer = {{"name", "lamb"}, {"exclude_vectors", false}}},
           {.what = "separate parameters", .optimizer = {{"name", "adamw"}, {"exclude_vectors", true}}}}) {
    if (run.precision == nn::Precision::kBfloat16 && !here.native_bf16 && !here.emulates_bf16) continue;
    INFO(run.what);
    same_on_any_ranks_and_threads([&](const mpi::Communicator& group, int threads) {
      EngineOptions chosen = options(Reduction::kExact, threads);
      chosen.precision = run.precision;
      chosen.convolution = run.convolution;
      return trained(group, chosen, 12, run.optimizer, run.graph);
    });
  }
}

TEST_CASE("exact: ranks that share no memory get the same bits") {
  const std::vector<float> reference = trained(alone(), options(Reduction::kExact), 12);
  for (const int threads : {1, 2}) {
    EngineOptions apart = options(Reduction::kExact, threads);
    apart.sharing = engine::ModelSharing::kNone;
    CHECK(trained(world(), apart, 12) == reference);
  }
}

// The norms of LARS and LAMB, and of clipping, depend on this.
TEST_CASE("padding of parameters and gradients stays zero") {
  const nn::Graph graph = nn::build_graph(
      Shape{1, 8, 8}, {{{"layer", "conv2d"}, {"filters", 5}, {"kernel", 3}, {"activation", "relu"}},
                       {{"layer", "conv2d"}, {"filters", 19}, {"kernel", 3}},
                       {{"layer", "batch_norm"}},
                       {{"layer", "flatten"}},
                       {{"layer", "dense"}, {"units", 21}},
                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
  const EngineTask task(32, {{"name", "sgd"}, {"momentum", 0.9}}, graph);  // keeps the gradients
  const std::vector<CanonicalParameter> parameters = canonical_parameters(graph);
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    for (const nn::ConvolutionChoice convolution :
         {nn::ConvolutionChoice::kAuto, nn::ConvolutionChoice::kDirect, nn::ConvolutionChoice::kWinograd}) {
      EngineOptions wanted = options(reduction, 2);
      wanted.convolution = convolution;
      StepEngine engine = task.engine(wanted, world());
      for (int i = 0; i < 3; ++i) engine.step(0, task.ids, 0.01);
      // A reorder from plain values writes zeros into the padding.
      const nn::ParameterLayout& layout = engine.layout();
      const auto round_trip = [&](std::span<const float> arena) {
        AlignedBuffer<float> again(arena.size());
        pack(parameters, layout, unpack(parameters, layout, arena), again.span());
        return std::equal(arena.begin(), arena.end(), again.span().begin());
      };
      CHECK(layout.size() > canonical_values(parameters));
      CHECK(round_trip(engine.parameters()));
      const StateArray state = engine.optimizer_state(0);
      AlignedBuffer<float> again(state.size());
      pack(parameters, layout, unpack(parameters, layout, state), StateArray(again.span()));
      CHECK(std::ranges::equal(state.floats(), again.span()));
    }
  }
}

TEST_CASE("exclude_vectors excludes the parameters with one extent") {
  const auto adamw = [](bool exclude) {
    return Settings{{"name", "adamw"}, {"weight_decay", 0.5}, {"exclude_vectors", exclude}};
  };
  const EngineTask with(32, adamw(false)), without(32, adamw(true));
  StepEngine all = with.engine(options(Reduction::kExact), world());
  StepEngine some = without.engine(options(Reduction::kExact), world());
  for (int i = 0; i < 2; ++i) {
    all.step(0, with.ids, 0.01);
    some.step(0, with.ids, 0.01);
    if (i == 0) std::copy_n(all.parameters().begin(), all.parameters().size(), some.parameters().begin());
  }
  // The first step is the same. The second step decays gamma (about 1) in one of them only.
  for (const nn::ParameterSlot& slot : all.layout().slots()) {
    INFO(slot.name);
    const auto a = all.parameters().subspan(slot.offset, slot.size);
    const auto b = some.parameters().subspan(slot.offset, slot.size);
    const bool decayed_apart = slot.spec.trainable && slot.spec.shape.rank() == 1;
    CHECK(std::equal(a.begin(), a.end(), b.begin()) == !decayed_apart);
  }
}

// With SGD, because the bias before a batch norm has a gradient of only rounding, and Adam divides a gradient
// by its own size, so it would make whole steps of that rounding.
TEST_CASE("fast: 20 steps on n ranks equal those on one within 1e-5") {
  const std::vector<float> reference = trained(alone(), options(Reduction::kFast), 20, {{"name", "sgd"}});
  CHECK(relative_difference(trained(world(), options(Reduction::kFast), 20, {{"name", "sgd"}}), reference) <
        1e-5);
  CHECK(relative_difference(trained(world(), options(Reduction::kFast, 2), 20, {{"name", "sgd"}}),
                            reference) < 1e-5);
}

TEST_CASE("fast and exact agree except for rounding") {
  CHECK(relative_difference(trained(world(), options(Reduction::kFast), 20, {{"name", "sgd"}}),
                            trained(world(), options(Reduction::kExact), 20, {{"name", "sgd"}})) < 1e-5);
}

TEST_CASE("a step makes two collectives per bucket between nodes, and none within a node") {
  const EngineTask task;
  EngineOptions wanted = options(Reduction::kFast);
  wanted.bucket_bytes = 1024;
  for (const bool share : {false, true}) {
    wanted.sharing = share ? engine::ModelSharing::kHost
                           : engine::ModelSharing::kNone;  // ranks that share nothing are nodes
    StepEngine engine = task.engine(wanted, world());
    const std::size_t bytes =
        (engine.layout().size() + 16) * sizeof(float);  // gradients, statistics and the metrics
    const auto buckets = static_cast<int>((bytes + 1023) / 1024);
    for (int i = 0; i < 3; ++i) {
      replaced::counts = {};
      engine.step(0, task.ids, 0.1);
      CHECK(replaced::counts.collectives() == (world().size() == 1 || share ? 0 : 2 * buckets));
    }
  }
}

TEST_CASE("a step allocates nothing after the first, with augmentation and mixtures too") {
  EngineTask plain(32, {{"name", "adam"}}), augmented(32, {{"name", "adam"}});
  data::AugmentOptions augment;
  augment.rotation_range = 20;
  augment.contrast_range = augment.brightness_range = {0.5, 1.5};
  augment.cutout = 3;
  augment.mixup = augment.cutmix = 0.5;
  augmented.loader = augmented.pictures.loader(
      std::make_shared<const data::Augmenter>(augment, Shape{1, 8, 8}, data::SampleType::kUint8));
  const auto check = [&](const EngineOptions& wanted, const EngineTask& task) {
    StepEngine engine = task.engine(wanted, world());
    engine.step(0, task.ids, 1e-3);
    const long before = test::allocations(), executions = test::primitive_executions();
    for (int i = 0; i < 5; ++i) engine.step(0, task.ids, 1e-3);
    const long after = test::allocations();
    CHECK(after == before);
    // oneDNN ran (through the wrapper that excludes its allocations). With exact other ranks may have
    // done all the work of this one.
    std::int64_t ran[] = {test::primitive_executions() - executions};
    world().sum(ran);
    CHECK(ran[0] > 0);
  };
  for (const EngineTask* task : {&plain, &augmented}) {
    for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
      for (const int threads : {1, 2}) check(options(reduction, threads), *task);
    }
  }
  EngineOptions one_micro_batch = options(Reduction::kFast, 2);  // its threads share the kernels
  one_micro_batch.micro_batch = 32;
  check(one_micro_batch, plain);
}

TEST_CASE("each use of a sample in an epoch has its own dropout") {
  const EngineTask task;
  const auto after = [&](const std::vector<std::uint32_t>& repeats) {
    StepEngine engine = task.engine(options(Reduction::kExact), alone());
    engine.step(0, task.ids, 0.1, repeats);
    return std::vector<float>(engine.parameters().begin(), engine.parameters().end());
  };
  std::vector<std::uint32_t> repeats(task.ids.size());
  CHECK(after(repeats) == after({}));
  repeats.back() = 1;  // in the last micro-batch
  CHECK(after(repeats) != after({}));
}

TEST_CASE("a mixture counts each label with the weight of its sample: class weights equal sample weights") {
  EngineTask task;
  data::AugmentOptions augment;
  augment.mixup = 1;
  const auto augmenter =
      std::make_shared<const data::Augmenter>(augment, Shape{1, 8, 8}, data::SampleType::kUint8);
  const std::vector<double> classes{1, 2, 0.5, 0};
  std::vector<float> weights;
  for (const std::int32_t label : task.pictures.labels)
    weights.push_back(static_cast<float>(classes[static_cast<std::size_t>(label)]));
  const auto after = [&](bool by_class) {
    data::Split split = task.pictures.split();
    EngineOptions wanted = options(Reduction::kExact);
    Settings loss{{"name", "softmax_cross_entropy"}};
    if (by_class) {
      loss.set("class_weights", Value::Array(classes.begin(), classes.end()));
    } else {
      split.weights = weights;
    }
    wanted.loss = nn::make_loss(loss);
    task.loader = data::BatchLoader(split, Shape{1, 8, 8}, data::Normalization{{1.0F / 255}, {0}}, augmenter);
    StepEngine engine = task.engine(wanted, alone());
    engine.step(0, task.ids, 0.1);
    return std::vector<float>(engine.parameters().begin(), engine.parameters().end());
  };
  CHECK(after(true) == after(false));
}

TEST_CASE("more ranks and threads than micro-batches: the idle ones take part in every sum") {
  EngineOptions one_micro_batch = options(Reduction::kExact, 4);
  one_micro_batch.micro_batch = 32;
  EngineOptions same = one_micro_batch;
  same.threads = 1;
  CHECK(trained(world(), one_micro_batch, 3) == trained(alone(), same, 3));
}

TEST_CASE("a loss that is not finite is found on all ranks, and its layer is named") {
  const EngineTask task;
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    StepEngine engine = task.engine(options(reduction), world());
    const nn::ParameterSlot& slot = engine.layout().slot("dense_1.bias");
    engine.parameters()[slot.offset] = std::nanf("");
    const auto before = engine.steps_done();
    CHECK(!std::isfinite(engine.step(0, task.ids, 0.1).loss));
    CHECK(engine.steps_done() == before);
    CHECK(engine.diagnose().where == "dense_1 on rank 0");
  }
}

TEST_CASE("a loss that is not finite on one rank is found on all, however late they look at the sums") {
  // The last sample has a value that is not a number. The first rank, in whose memory the sums are, looks at
  // once; the last one, which has that sample, finds its clock slow after each sum.
  EngineTask task;
  std::vector<float> values(task.pictures.samples.begin(), task.pictures.samples.end());
  values.back() = std::nanf("");
  task.loader = data::BatchLoader({data::Samples(std::span<const float>(values)), task.pictures.labels},
                                  Shape{1, 8, 8}, data::Normalization{{1.0F / 255}, {0}});
  const std::string last = std::to_string(world().size() - 1);
  Timeline timeline;
  const Timeline::Use use(timeline);
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    StepEngine engine = task.engine(options(reduction), world());
    replaced::slow_clock = world().rank() > 0 && world().rank() == world().size() - 1;
    CHECK(!std::isfinite(engine.step(0, task.ids, 0.1).loss));
    CHECK_THAT(engine.diagnose().where, EndsWith(" on rank " + last));
    replaced::slow_clock = false;
    CHECK(engine.steps_done() == 0);
  }
}

TEST_CASE("a gradient that is too large for fixed point is found on all ranks, and its parameter is named") {
  const nn::Graph graph =
      nn::build_graph(Shape{1, 8, 8}, {{{"layer", "flatten"}},
                                       {{"layer", "dense"}, {"units", 8}},
                                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
  const EngineTask task(32, {{"name", "sgd"}}, graph);
  StepEngine engine = task.engine(options(Reduction::kExact), world());
  // The outputs stay finite, and so does the loss; the gradient of the second layer is its input, 1e8.
  const nn::ParameterSlot& bias = engine.layout().slot("dense_1.bias");
  for (std::size_t i = 0; i < 8; ++i) engine.parameters()[bias.offset + i] = 1e8F;
  CHECK(!std::isfinite(engine.step(0, task.ids, 0.1).loss));
  const StepEngine::Cause cause = engine.diagnose();
  CHECK(cause.too_large);
  CHECK_THAT(cause.where, StartsWith("the gradient of dense_2.weight (") && EndsWith(" on rank 0"));
  CHECK(engine.first_bad_parameter().empty());
  world().barrier();  // the ranks share the parameters
  engine.parameters()[bias.offset] = std::nanf("");
  CHECK(engine.first_bad_parameter() == "dense_1.bias");
}

TEST_CASE("micro-batches: automatic size, shares, and a batch that they do not divide") {
  CHECK(auto_micro_batch(64) == 8);
  CHECK(auto_micro_batch(128) == 8);
  CHECK(auto_micro_batch(512) == 8);
  CHECK(auto_micro_batch(1024) == 16);
  CHECK(auto_micro_batch(2048) == 32);
  CHECK(auto_micro_batch(2050) == 41);
  CHECK(auto_micro_batch(100) == 10);
  CHECK(auto_micro_batch(7) == 7);
  CHECK(auto_micro_batch(1) == 1);
  EngineOptions odd = options(Reduction::kFast);
  odd.micro_batch = 5;
  CHECK(error_of([&] { EngineTask().engine(odd, world()); }) ==
        "a batch of 32 samples is not a multiple of a micro-batch of 5");
}
