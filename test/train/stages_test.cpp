// Staged fine-tuning: from an epoch on, more parameters are trained.
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/train/gathering.hpp"
#include "convoke/train/verdict.hpp"
#include "fine_tuning.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace fine_tuning;
using train::Job;
using train::Stage;

namespace {

const std::vector<std::string> kBackbone{"before:head"};

/// Trains the head alone, then also the hidden layer at a lower rate, then everything.
Job staged() {
  Job result = job(kBackbone);
  result.loop.stages = {{.epoch = 2, .unfreeze = {"hidden"}, .learning_rate = 0.005},
                        {.epoch = 4, .unfreeze = {"before:hidden"}}};
  result.loop.epochs = 5;
  return result;
}

nn::Graph without_dropout(const nn::Graph& graph) {
  nn::Graph result(graph.input_shape());
  for (const nn::Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    const bool drops = node.layer->type() == "dropout";
    result.add(drops ? nn::make_layer({{"layer", "identity"}}) : node.layer, node.inputs, node.name);
    if (!node.parameters.empty()) result.set_options(node.index, node.options);
  }
  return result;
}

run::InitialWeights weights_of(const std::vector<float>& parameters) {
  const std::size_t count = engine::canonical_parameters(network({})).size();
  return {.values = parameters, .given = std::vector<bool>(count, true), .initialized = {}, .unused = {}};
}

}  // namespace

TEST_CASE("a stage equals a second job that starts with the weights of the first") {
  const tiny::Pictures pictures(150);
  // Without momentum, shuffling and dropout, only the weights pass from one job to the other.
  const auto plain = [&](const std::vector<std::string>& frozen) {
    Job result = job(frozen, "sgd");
    result.model.graph = without_dropout(result.model.graph);
    result.shuffle = false;
    return result;
  };
  Job whole = plain({"before:hidden"});
  whole.loop.stages = {{.epoch = 3, .unfreeze = {"conv2"}, .learning_rate = 0.1}};

  Job first = plain({"before:hidden"});
  first.loop.epochs = 2;
  const Result half = train_all(first, pictures, world());
  Job second = plain({"conv1", "norm1"});
  second.loop.epochs = 2;
  second.loop.learning_rate = 0.1;
  second.weights = std::make_shared<const run::InitialWeights>(weights_of(half.parameters()));

  const Result found = train_all(whole, pictures, world());
  CHECK(found.parameters() == train_all(second, pictures, world()).parameters());
  CHECK(of_node("conv2", found.parameters()) != of_node("conv2", half.parameters()));
}

TEST_CASE("frozen parameters do not change until their stage") {
  const tiny::Pictures pictures(150);
  const auto after = [&](std::int64_t epochs) {
    Job wanted = staged();
    wanted.loop.epochs = epochs;
    return train_all(wanted, pictures, world()).parameters();
  };
  const std::vector<float> start = after(0), one = after(1), three = after(3), four = after(4);
  for (const char* name : {"conv1", "norm1", "conv2", "hidden"})
    CHECK(of_node(name, one) == of_node(name, start));
  for (const char* name : {"conv1", "norm1", "conv2"}) CHECK(of_node(name, three) == of_node(name, start));
  for (const char* name : {"hidden", "head"}) CHECK(of_node(name, three) != of_node(name, one));
  for (const char* name : {"conv1", "norm1", "conv2", "hidden", "head"})
    CHECK(of_node(name, four) != of_node(name, three));
}

TEST_CASE("a staged run is the same for any ranks, threads and interruptions") {
  const tiny::Pictures pictures(150);
  Job wanted = staged();
  wanted.engine.update.ema = 0.9;
  const std::vector<float> expected = alone(wanted, pictures, world());
  for (const int threads : {1, 2}) {
    wanted.engine.threads = threads;
    CHECK(train_all(wanted, pictures, world()).parameters() == expected);
  }
  // Stops within a stage and between two stages: after the first epoch alone, and after each later one.
  for (const std::vector<std::int64_t>& stops : {std::vector<std::int64_t>{1}, {2, 3, 4}}) {
    INFO("after epoch " << stops.front());
    const tiny::Run run(world());
    Job part = wanted;
    for (const std::int64_t epochs : stops) {
      part.loop.epochs = epochs;
      CHECK(train_all(part, pictures, world(), run.folder, true).training.members[0].epochs_done == epochs);
    }
    CHECK(train_all(wanted, pictures, world(), run.folder, true).parameters() == expected);
  }
  SECTION("by a signal, at the first step of a stage") {
    const tiny::Run run(world());
    Job part = wanted;
    part.loop.epochs = 1;
    train_all(part, pictures, world(), run.folder);
    const Result stopped =
        tiny::interrupted(world(), [&] { return train_all(wanted, pictures, world(), run.folder, true); });
    CHECK(bool(stopped.training.interrupted_by));
    CHECK(train_all(wanted, pictures, world(), run.folder, true).parameters() == expected);
  }
}

TEST_CASE("objectives have the penalties of layers that a stage has unfrozen") {
  const tiny::Pictures pictures(150);
  Job wanted = staged();
  wanted.loop.epochs = 2;
  wanted.samples.validation_split = 0.2;
  const std::size_t node = wanted.model.graph.find("hidden");
  nn::ParameterOptions options = wanted.model.graph.node(node).options;
  options.l2 = 0.01;
  wanted.model.graph.set_options(node, options);
  const tiny::Run run(world());
  Result result = train_all(wanted, pictures, world(), run.folder);
  const train::Verdict verdict =
      train::gather_and_vote(wanted, result.training, train::split(world(), 1), world(), pictures.loader(),
                             run.folder, result.phases);
  std::vector<float> hidden = of_node("hidden", result.parameters());
  hidden.resize(hidden.size() - 12);  // without the bias
  double penalty = 0;
  for (const float weight : hidden)
    penalty += 0.01 * static_cast<double>(weight) * static_cast<double>(weight);
  const engine::Score& test = verdict.test.members.at(0);
  CHECK(test.objective - test.loss == Approx(penalty).epsilon(1e-3));
  CHECK(run::load_models(run.folder.path()).description.graph.node(node).options.trainable);
  run::ModelDescription unfrozen = wanted.model;
  unfrozen.graph = train::graph_in_epoch(wanted, 2);
  CHECK(train::difference(wanted.model, unfrozen).empty());  // files of earlier versions vote with new ones

  std::vector<Settings> epochs = metrics::read_json_lines(run.folder.metrics());
  std::erase_if(epochs, [](const Settings& line) { return text_at(line, "event") != "epoch"; });
  CHECK(std::isnan(number_at(epochs.at(0), "validation_objective")));  // only the head is trained
  CHECK(number_at(epochs.at(1), "validation_objective") - number_at(epochs.at(1), "validation_loss") ==
        Approx(penalty).epsilon(1e-3));
}

TEST_CASE("invalid stages are refused") {
  const auto refusal = [](const Settings& settings) { return error_of([&] { Stage::read(settings); }); };
  CHECK(refusal({{"epoch", 1}, {"unfreeze", "conv1"}}) ==
        "train.stages: \"epoch\" must be at least 2, but is 1");
  CHECK(refusal({{"epoch", 3}}) == "train.stages: the stage changes nothing");
  CHECK(refusal({{"epoch", 3}, {"learning_rate", 0}}) ==
        "train.stages: \"learning_rate\" must be above 0, but is 0");
  const std::vector<Stage> trained{{.epoch = 2, .unfreeze = {"head"}}};
  CHECK(error_of([&] { train::unfrozen_by(trained, network({"conv1"}), 5); }) ==
        "unfreeze: \"head\" names no frozen node");
  const std::vector<Stage> unknown{{.epoch = 2, .unfreeze = {"conv3"}}};
  CHECK_THAT(error_of([&] { train::unfrozen_by(unknown, network({"conv1"}), 5); }),
             Contains("did you mean \"conv"));
}
