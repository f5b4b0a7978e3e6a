#include "convoke/engine/update.hpp"

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/step_engine.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/counted_allocations.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::engine;

namespace {

/// Returns `graph` with a penalty on the weights of its dense layers.
nn::Graph penalized(nn::Graph graph, double l1, double l2) {
  for (std::size_t node = 1; node < graph.nodes().size(); ++node) {
    if (graph.node(node).layer->type() == "dense") graph.set_options(node, {.l1 = l1, .l2 = l2});
  }
  return graph;
}

// The job that Keras 3.15 ran as
//   x = np.array([[(37 * i + 11 * p + i * p) % 256 for p in range(64)] for i in range(8)], "float32") / 255
//   y = np.arange(8) % 4
//   model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(
//       4, activation="softmax", kernel_regularizer=keras.regularizers.L1L2(1e-3, 1e-2))])
//   model.layers[-1].set_weights([np.sin(0.1 * np.arange(256)).reshape(4, 64).T.astype("float32"),
//                                 np.array([0.1, 0, -0.1, 0.2], "float32")])
//   optimizer = keras.optimizers.SGD(0.1, momentum=0.9, **kw)
//   model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy())
//   losses = [model.train_on_batch(x, y) for step in range(6)]    # with model.reset_metrics() before each
//   w, b = model.layers[-1].get_weights(); w[0, 0], w[17, 1], w[40, 2], w[63, 3], b[0], b[3]
struct KerasJob {
  std::vector<double> losses;
  std::vector<float> weights;
  std::vector<float> result;  // of the average, if there is one: after optimizer.finalize_variable_values
};

std::vector<float> probe(const std::vector<float>& canonical) {
  return {canonical[0],           canonical[64 + 17], canonical[128 + 40],
          canonical[64 * 3 + 63], canonical[256],     canonical[259]};
}

KerasJob keras_job(const mpi::Communicator& group, const UpdateOptions& update, Reduction reduction,
                   int threads) {
  tiny::Pictures pictures(0);
  for (int i = 0; i < 8; ++i) {
    pictures.labels.push_back(i % 4);
    for (int p = 0; p < 64; ++p)
      pictures.samples.push_back(static_cast<std::uint8_t>((37 * i + 11 * p + i * p) % 256));
  }
  const data::BatchLoader loader = pictures.loader();
  const nn::Graph graph = penalized(
      nn::build_graph(Shape{1, 8, 8}, {{{"layer", "flatten"}},
                                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}}),
      1e-3, 1e-2);
  const auto optimizer = optim::make_optimizer({{"name", "sgd"}, {"momentum", 0.9}});
  EngineOptions wanted = options(reduction, threads);
  wanted.batch = 8;
  wanted.micro_batch = 2;
  wanted.update = update;
  StepEngine engine(graph, wanted, loader, *optimizer, group);

  const std::vector<CanonicalParameter> parameters = canonical_parameters(graph);
  std::vector<float> start;
  for (int i = 0; i < 256; ++i) start.push_back(static_cast<float>(std::sin(0.1 * i)));
  for (const float bias : {0.1F, 0.0F, -0.1F, 0.2F}) start.push_back(bias);
  pack(parameters, engine.layout(), start, engine.parameters());

  KerasJob job;
  const std::vector<std::uint32_t> ids = pictures.ids();
  for (int i = 0; i < 6; ++i) job.losses.push_back(engine.step(0, ids, 0.1).loss);
  job.weights = probe(unpack(parameters, engine.layout(), engine.parameters()));
  job.result = probe(unpack(parameters, engine.layout(), engine.result()));
  return job;
}

template <class T>
void check_near(const std::vector<T>& found, const std::vector<T>& expected) {
  CHECK(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(found.at(i) == Approx(expected[i]).epsilon(0).margin(3e-6));
}

}  // namespace

TEST_CASE("penalties, clipping and the average: six steps equal Keras'") {
  for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
    for (const int threads : {1, 2}) {
      const auto job = [&](const UpdateOptions& update) {
        return keras_job(world(), update, reduction, threads);
      };
      const KerasJob plain = job({});
      check_near(plain.losses, {2.79308844, 2.72121477, 2.59861135, 2.44405222, 2.26943755, 2.08815384});
      check_near(plain.weights,
                 {-0.0148602277F, 1.04579651F, -0.884947419F, 0.424385786F, 0.0965507478F, 0.189095572F});
      const KerasJob by_norm = job({.clip_norm = 0.5});  // global_clipnorm=0.5
      check_near(by_norm.losses, {2.79308844, 2.75080109, 2.67430234, 2.57210875, 2.45082283, 2.31543875});
      check_near(by_norm.weights,
                 {-0.0108637381F, 1.02189982F, -0.882897675F, 0.39816168F, 0.0949173495F, 0.184897751F});
      CHECK(by_norm.result == by_norm.weights);
      // global_clipnorm=0.5, use_ema=True, ema_momentum=0.8
      const KerasJob averaged = job({.clip_norm = 0.5, .ema = 0.8});
      CHECK(averaged.weights == by_norm.weights);
      check_near(averaged.result,
                 {-0.00528949453F, 0.994014502F, -0.884235501F, 0.375145316F, 0.0967334062F, 0.190110117F});
      const KerasJob by_value = job({.clip_value = 0.02});  // clipvalue=0.02
      check_near(by_value.losses, {2.79308844, 2.77117562, 2.73061657, 2.67505288, 2.60796285, 2.53220272});
      check_near(by_value.weights,
                 {-0.0212615822F, 1.00554919F, -0.869063795F, 0.394717753F, 0.0803377107F, 0.173631504F});
    }
  }
}

namespace {

struct Updated {
  std::vector<float> parameters, average;
  std::vector<double> losses;
  friend bool operator==(const Updated&, const Updated&) = default;
};

/// Combines everything, over blocks that threads share: the dense layer has several.
Updated updated(const mpi::Communicator& group, int threads, const Settings& optimizer_settings,
                nn::Precision states = nn::Precision::kFloat32) {
  const nn::Graph graph = penalized(
      nn::build_graph(Shape{1, 8, 8}, {{{"layer", "conv2d"}, {"filters", 21}, {"kernel", 3}},
                                       {{"layer", "batch_norm"}},
                                       {{"layer", "relu"}},
                                       {{"layer", "flatten"}},
                                       {{"layer", "dense"}, {"units", 50}, {"activation", "relu"}},
                                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}}),
      1e-4, 1e-3);
  const EngineTask task(64, optimizer_settings, graph);
  EngineOptions wanted = options(Reduction::kExact, threads);
  wanted.update = {.clip_norm = 0.5, .ema = 0.9, .state_precision = states};
  StepEngine engine = task.engine(wanted, group);
  Updated result;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto samples = std::span(task.ids).subspan(i % 2 * 32, i == 3 ? 21 : 32);
    result.losses.push_back(engine.step(i, samples, 0.01).loss);
  }
  result.parameters.assign(engine.parameters().begin(), engine.parameters().end());
  result.average.assign(engine.average().begin(), engine.average().end());
  return result;
}

}  // namespace

TEST_CASE(
    "exact: penalties, clipping, the average and every optimizer give the same bits for any ranks and "
    "threads") {
  for (const std::string& name : optim::optimizer_names()) {
    INFO(name);
    const Updated expected = same_on_any_ranks_and_threads([&](const mpi::Communicator& group, int threads) {
      return updated(group, threads, {{"name", name}});
    });
    CHECK(std::isfinite(expected.losses.back()));
    CHECK(expected.average.size() == expected.parameters.size());
    CHECK(expected.average != expected.parameters);
  }
}

TEST_CASE(
    "states in bf16: the same bits for any ranks and threads, and nearly the parameters of states in fp32") {
  for (const std::string& name : optim::optimizer_names()) {
    if (optim::make_optimizer({{"name", name}})->scope() == optim::Scope::kWholeParameter) continue;
    INFO(name);
    Settings settings{{"name", name}};
    if (name == "sgd") settings.set("momentum", 0.9);
    const Updated expected = same_on_any_ranks_and_threads([&](const mpi::Communicator& group, int threads) {
      return updated(group, threads, settings, nn::Precision::kBfloat16);
    });
    const Updated exact = updated(alone(), 1, settings);
    CHECK(expected != exact);
    double difference = 0, change = 0;
    for (std::size_t i = 0; i < exact.parameters.size(); ++i) {
      difference += std::abs(static_cast<double>(expected.parameters[i] - exact.parameters[i]));
      change += std::abs(static_cast<double>(exact.parameters[i] - exact.average[i]));
    }
    CHECK(difference < 0.02 * change);
  }
}

TEST_CASE("clipping by the norm shortens a long gradient and keeps its direction") {
  const EngineTask task;
  // At rate 1 a step subtracts the gradient.
  const auto gradient = [&](double clip_norm) {
    EngineOptions wanted = options(Reduction::kExact);
    wanted.update.clip_norm = clip_norm;
    StepEngine engine = task.engine(wanted, world());
    const std::size_t trainable = engine.layout().trainable_size();
    std::vector<double> change(engine.parameters().begin(),
                               engine.parameters().begin() + static_cast<std::ptrdiff_t>(trainable));
    engine.step(0, task.ids, 1.0);
    for (std::size_t i = 0; i < trainable; ++i) change[i] -= static_cast<double>(engine.parameters()[i]);
    return change;
  };
  const auto length = [](const std::vector<double>& v) {
    double squares = 0;
    for (const double x : v) squares += x * x;
    return std::sqrt(squares);
  };
  const std::vector<double> free = gradient(0);
  const std::vector<double> clipped = gradient(0.01);
  CHECK(length(free) > 0.1);
  CHECK(length(clipped) == Approx(0.01).epsilon(1e-4));
  double dot = 0;
  for (std::size_t i = 0; i < free.size(); ++i) dot += free[i] * clipped[i];
  CHECK(dot == Approx(length(free) * length(clipped)).epsilon(1e-6));
  CHECK(gradient(1000) == free);
}

TEST_CASE("the average follows all parameters, statistics included") {
  const EngineTask task(32, {{"name", "adam"}});
  EngineOptions wanted = options(Reduction::kFast, 2);
  wanted.update.ema = 0.75;
  StepEngine engine = task.engine(wanted, world());
  const auto equal = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  CHECK(equal(engine.result(), engine.parameters()));  // there is no average before the first step
  std::vector<double> expected;
  for (int step = 0; step < 5; ++step) {
    engine.step(0, task.ids, 0.01);
    expected.resize(engine.parameters().size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto now = static_cast<double>(engine.parameters()[i]);
      expected[i] = step == 0 ? now : 0.75 * expected[i] + 0.25 * now;
    }
    if (step == 0) CHECK(equal(engine.result(), engine.parameters()));
  }
  CHECK(equal(engine.result(), engine.average()));
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(engine.average()[i]) - expected[i]));
  CHECK(worst < 1e-6);
  const nn::ParameterSlot& mean = engine.layout().slots().back();
  CHECK_FALSE(mean.spec.trainable);
  CHECK(engine.average()[mean.offset] != engine.parameters()[mean.offset]);
}

TEST_CASE("an update allocates nothing") {
  for (const std::string& name : optim::optimizer_names()) {
    const EngineTask task(32, {{"name", name}}, penalized(tiny::graph(), 1e-4, 1e-3));
    for (const Reduction reduction : {Reduction::kFast, Reduction::kExact}) {
      EngineOptions wanted = options(reduction, 2);
      wanted.update = {.clip_norm = 0.1, .ema = 0.9};
      StepEngine engine = task.engine(wanted, world());
      engine.step(0, task.ids, 1e-3);
      const long before = test::allocations();
      for (int i = 0; i < 3; ++i) engine.step(0, task.ids, 1e-3);
      CHECK(test::allocations() == before);
    }
  }
}
