#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/run/node_memory.hpp"
#include "convoke/train/fit.hpp"
#include "convoke/train/samples.hpp"
#include "convoke/train/verdict.hpp"
#include "results/models.hpp"
#include "results/samples_from.hpp"

namespace convoke::app {
namespace {

struct EvaluateOptions : ModelOptions {
  std::string data;   ///< empty: the dataset of the model's run
  std::string split;  ///< empty: the run's data.test_split; "test" for a model without a recipe
  bool json = false;
};

constexpr const char* kEvaluateHelp = R"(Examples:
  convoke evaluate runs/first                    a run, on the test split of its recipe
  convoke evaluate model.h5 --data mnist.h5      a model file
  mpirun -n 4 convoke evaluate ensemble.h5 --data mnist.h5 --split train --rule mean --json
)";

std::filesystem::path dataset_of(const EvaluateOptions& options,
                                 const std::optional<recipe::Recipe>& recipe) {
  if (!options.data.empty()) return options.data;
  if (recipe) return recipe::resolve_dataset(*recipe);
  throw Error(fmt::format("{}: no recipe next to this model names a dataset", options.model),
              "pass a dataset with --data FILE");
}

std::string split_of(const EvaluateOptions& options, const std::optional<recipe::Recipe>& recipe) {
  if (!options.split.empty()) return options.split;
  return recipe ? recipe->data.test_split : recipe::DataRecipe().test_split;
}

// Scores count NaN as class 0: throws Error if a member has outputs that are not finite.
void require_finite(const train::Evaluation& evaluation, const std::vector<std::int64_t>& members,
                    const std::string& model, const std::string& samples) {
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (evaluation.not_finite[m] == 0) continue;
    const std::string member = members.size() > 1 ? fmt::format(" of member {}", members[m]) : "";
    throw Error(
        fmt::format("{}: the outputs{} are not finite for {} of {} samples of {}", model, member,
                    evaluation.not_finite[m], evaluation.samples, samples),
        "either the samples have such values, or the model's sums overflow: `convoke predict` with this "
        "dataset names the first sample whose outputs are not finite, and which of both is the cause");
  }
}

// Prints accuracy, votes and the classification report of a model or an ensemble on a split of a dataset.
int evaluate(const EvaluateOptions& options) {
  // 1. The models, and the ranks that evaluate them.
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const run::Machine machine = bound_machine(world, options.threads);
  ModelsInUse in_use = models_for(options, world);
  run::ModelSet& models = in_use.models;
  const std::filesystem::path& file = in_use.file;
  const std::optional<recipe::Recipe>& recipe = in_use.recipe;
  const std::string& rule = in_use.rule;
  const std::string split = split_of(options, recipe);

  // 2. The samples: one copy per node.
  const mpi::Communicator node = world.split_node();
  run::NodeStorage memory(world, node);
  const data::Dataset dataset = data::Dataset::open(dataset_of(options, recipe), {split}, memory.storage());
  train::require_fit(models.description, file.string(), dataset.info(), dataset.file());
  // One number as output, from another program: the nearest label is its class, as in training.
  if (models.description.classes() == 1) models.description.class_count = dataset.info().classes;
  const std::string other_names =
      train::require_same_classes(models.description, file.string(), dataset.info(), dataset.file());
  if (world.root() && !other_names.empty()) fmt::print(stderr, "note: {}\n", other_names);
  require_same_preparation(models.description, dataset.info(), dataset.file().string());
  train::require_vocabulary(models.description.graph, file.string(), dataset, split);
  const data::BatchLoader loader(
      dataset.split(split), models.description.graph.input_shape(), models.description.normalization,
      test_augmenter(options.views, models.description, recipe, dataset.info().sample_type));

  // 3. Each rank evaluates all members on its part of the samples.
  const os::Stopwatch watch;
  const std::vector<std::uint32_t> ids = train::all_ids(loader.split());
  const int threads = machine.threads_for(options.threads);
  inspect_outputs(models, evaluator_options(models.description, threads, options.precision), world,
                  [&](engine::Evaluator& evaluator) {
                    const auto first = std::min<std::size_t>(ids.size(), kFirstOutputs);
                    return evaluator.raw(loader, std::span(ids).first(first));
                  });
  engine::Evaluator evaluator(models.description.graph,
                              evaluator_options(models.description, threads, options.precision));
  std::vector<std::int64_t> members;
  for (const run::Member& member : models.members) members.push_back(member.index);
  const train::Evaluation evaluation =
      train::evaluate(evaluator, static_cast<std::int64_t>(members.size()),
                      [&](std::int64_t m) {
                        return std::span<const float>(models.members[static_cast<std::size_t>(m)].parameters);
                      },
                      loader, ids, world, recipe ? recipe->train.loop.top_k : train::kDefaultTopK,
                      {.count = options.views, .seed = recipe ? recipe->seed : 0});
  require_finite(evaluation, members, file.string(), fmt::format("{}, {}", dataset.file().string(), split));
  world.barrier();
  if (!world.root()) return EXIT_SUCCESS;

  // 4. Print the results.
  if (options.json) {
    Settings result = train::evaluation_summary(evaluation, rule, members);
    const Settings details =
        train::evaluation_details(evaluation, rule, members, models.description.class_names);
    for (const auto& [key, value] : details.entries()) {
      if (result.find(key) == nullptr) result.set(key, value);
    }
    result.set("model", file.string());
    result.set("data", dataset.file().string());
    result.set("split", split);
    if (!dataset.info().provenance.empty()) result.set("provenance", dataset.info().provenance);
    result.set("computed_in", recipe::to_string(options.precision));
    if (const std::optional<nn::Precision> trained = models.description.precision)
      result.set("trained_in", recipe::to_string(*trained));
    result.set("views", options.views);
    result.set("seconds", watch.seconds());
    fmt::print("{}\n", metrics::to_json(result));
    return EXIT_SUCCESS;
  }
  fmt::print("{}\n{}, {}: {} {} in {} ({}){}{}\n{}", describe(file, models), dataset.file().string(), split,
             format_count(evaluation.samples), dataset.info().sample_shape.rank() == 3 ? "images" : "samples",
             format_duration(watch.seconds()), in_use.precision,
             members.size() > 1 ? ", " + rule + " vote" : "",
             options.views > 1 ? fmt::format(", mean of {} views", options.views) : "",
             train::evaluation_text(evaluation, rule, members, models.description.class_names));
  fmt::print("{}", data::provenance_note(dataset.info().provenance));
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_evaluate(CLI::App& parser) {
  auto options = std::make_shared<EvaluateOptions>();
  add_model(parser, options->model);
  add_option(parser, "--data", options->data, "DATASET", "The dataset; that of the run by default");
  add_option(parser, "--split", options->split, "NAME",
             "The split to evaluate on; the run's data.test_split by default");
  add_option(parser, "--rule", options->rule, "RULE",
             "The voting rule of an ensemble; that of the run by default");
  add_model_reading(parser, options->reading);
  add_threads(parser, options->threads);
  add_precision(parser, options->precision);
  add_views(parser, options->views);
  parser.add_flag("--json", options->json, "Print the result as JSON");
  parser.footer(kEvaluateHelp);
  return [options] { return evaluate(*options); };
}

}  // namespace convoke::app
