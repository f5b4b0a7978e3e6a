// The notes about weights: those that expect samples normalized in another way, and frozen ones that are
// random.
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/recipe/job.hpp"
#include "support/catch.hpp"

using namespace convoke;
using convoke::recipe::Recipe;

namespace {

/// Returns the note for weights of a file whose model takes samples normalized by `theirs`.
std::string note(const std::string& zoo, const std::string& normalize, const data::Normalization& own,
                 const data::Normalization& theirs) {
  const Recipe recipe = Recipe::parse("[data]\npath = \"d.h5\"\nnormalize = \"" + normalize +
                                          "\"\n[model]\nzoo = \"" + zoo + "\"\nweights = \"w.h5\"\n",
                                      "recipe.toml");
  train::Job job({.graph = nn::make_zoo_model(zoo), .normalization = own, .class_names = {}});
  run::InitialWeights weights;
  weights.normalization = theirs;
  job.weights = std::make_shared<const run::InitialWeights>(weights);
  return recipe::normalization_note(recipe, job);
}

}  // namespace

TEST_CASE("published weights that expect other pixels are noted") {
  CHECK(note("squeezenet1.1", "imagenet", {}, {}).empty());
  CHECK(note("lenet5", "unit", {}, {}).empty());
  CHECK(note("squeezenet1.1", "unit", {}, {}) ==
        "published weights of squeezenet1.1 expect data.normalize = \"imagenet\", but it is \"unit\"");
}

TEST_CASE("frozen layers that no file gives weights are noted") {
  nn::Graph graph = nn::make_zoo_model("lenet5");
  nn::freeze(graph, std::vector<std::string>{"backbone"});
  train::Job job({.graph = graph, .normalization = {}, .class_names = {}});
  CHECK_THAT(recipe::frozen_note(job), StartsWith("frozen layers keep random initial weights: "));
  job.loop.stages = {{.epoch = 2, .unfreeze = {"backbone"}, .learning_rate = 0}};
  job.loop.epochs = 2;
  CHECK(recipe::frozen_note(job).empty());
  job.loop.epochs = 1;
  CHECK_FALSE(recipe::frozen_note(job).empty());
  run::InitialWeights weights;
  weights.given.assign(engine::canonical_parameters(graph).size(), true);
  weights.given.back() = weights.given[weights.given.size() - 2] = false;  // the head
  job.weights = std::make_shared<const run::InitialWeights>(weights);
  CHECK(recipe::frozen_note(job).empty());
  nn::freeze(job.model.graph, std::vector<std::string>{"*"});
  CHECK(recipe::frozen_note(job) == "no layer is trained: all are frozen");
}

TEST_CASE("a model's own normalization counts, if its file says it") {
  const data::Normalization one{{1, 1, 1}, {0, 0, 0}}, other{{1, 1, 1}, {0, 0, 0}, true};
  CHECK(note("squeezenet1.1", "none", one, one).empty());
  CHECK(note("squeezenet1.1", "none", one, other) ==
        "the model in w.h5 takes samples normalized in another way than data.normalize = \"none\"");
}
