#include "results/models.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/finite.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/vote/rule.hpp"

namespace convoke::app {

namespace {

// Says what the first outputs, (n, k), are if the model does not know it.
void resolve_outputs(run::ModelDescription& model, std::span<const float> outputs) {
  const std::int64_t k = model.graph.output_shape().elements();
  const auto samples = static_cast<std::int64_t>(outputs.size()) / k;
  const std::string activation(model.loss->activation());
  if (samples == 0 || !all_finite(outputs)) return;  // a prediction refuses these
  const bool look = nn::look_activated(outputs, k, activation);
  if (!model.outputs_assumed) {
    if (look) return;
    throw Error(fmt::format("the model's outputs are said to be {}, but those of the first {} are not {}",
                            activation == "softmax" ? "probabilities" : "from 0 to 1", format_count(samples),
                            activation == "softmax" ? "numbers of at least 0 with the sum 1" : "so"),
                "pass --outputs logits if they still need softmax or sigmoid, or --outputs values");
  }
  if (look && k > 1) {
    Settings loss = model.loss->settings();
    loss.set("outputs", "probabilities");
    model.loss = nn::make_loss(loss);
    fmt::print(stderr,
               "note: outputs: probabilities (those of the first {} are at least 0 and have the sum 1); "
               "--outputs logits changes that\n",
               samples == 1 ? "sample" : fmt::format("{} samples", samples));
  } else if (look) {
    fmt::print(
        stderr,
        "note: the outputs of the first samples lie between 0 and 1; if they are probabilities and not "
        "logits, pass --outputs probabilities\n");
  }
}

run::ModelSet read_models(const std::filesystem::path& file, const ModelReading& reading,
                          const mpi::Communicator& world) {
  return run::models_from_root(world, [&] {
    const std::string holder = run::lock_holder(file.parent_path());
    if (!holder.empty()) {
      fmt::print(stderr, "note: {} will be replaced when {} has trained on\n", file.string(), holder);
    }
    interop::Imported imported = interop::read_model(file, reading.import);
    interop::declare_outputs(imported, reading.outputs);
    for (const std::string& note : imported.notes) fmt::print(stderr, "note: {}\n", note);
    for (const std::string& note : {imported.normalization_note, imported.outputs_note}) {
      if (!note.empty()) fmt::print(stderr, "note: {}\n", note);
    }
    return std::move(imported.models);
  });
}

}  // namespace

ModelsInUse models_for(const ModelOptions& options, const mpi::Communicator& world) {
  const std::filesystem::path file = interop::find_model(options.model);
  run::ModelSet models = read_models(file, options.reading, world);
  const std::filesystem::path recipe_file = file.parent_path() / "recipe.toml";
  std::optional<recipe::Recipe> recipe;
  if (std::filesystem::exists(recipe_file)) recipe = recipe::Recipe::load(recipe_file.string());
  std::string rule = !options.rule.empty() ? options.rule : recipe ? recipe->ensemble.rule : "majority";
  vote::find_rule(rule);
  nn::require_precision(options.precision, recipe && recipe->train.emulate_bf16);
  std::string precision = recipe::to_string(options.precision);
  const std::optional<nn::Precision> trained = models.description.precision;
  if (trained && *trained != options.precision) precision += "; trained in " + recipe::to_string(*trained);
  return {file, std::move(models), std::move(recipe), std::move(rule), std::move(precision)};
}

engine::EvaluatorOptions evaluator_options(const run::ModelDescription& model, int threads,
                                           nn::Precision precision) {
  return {.threads = threads, .precision = precision, .loss = model.loss, .classes = model.classes()};
}

void inspect_outputs(run::ModelSet& models, const engine::EvaluatorOptions& options,
                     const mpi::Communicator& world,
                     const std::function<std::vector<float>(engine::Evaluator&)>& first_outputs) {
  run::ModelDescription& model = models.description;
  const bool declared = model.loss->settings().find("outputs") != nullptr &&
                        nn::outputs_are_activated(model.graph, *model.loss);
  if (!model.outputs_assumed && !declared) return;
  const std::string loss = mpi::on_root(world, [&] {
    engine::Evaluator evaluator(model.graph, options);
    evaluator.load(models.members.front().parameters);
    resolve_outputs(model, first_outputs(evaluator));
    return metrics::to_json(model.loss->settings());
  });
  model.loss = nn::make_loss(metrics::settings_from_json(loss, "the loss of rank 0"));
}

void add_precision(CLI::App& parser, nn::Precision& precision) {
  add_choice(parser, "--precision", precision,
             {{"fp32", nn::Precision::kFloat32}, {"bf16", nn::Precision::kBfloat16}},
             "The precision to compute in; fp32 by default, whatever the training used");
}

CLI::Option* add_views(CLI::App& parser, std::int64_t& views) {
  return add_option(
             parser, "--tta", views, "N",
             "Test-time augmentation: average the outputs for N views of each sample, which [augment] of "
             "the run makes")
      ->check(in_range(1, 1000))
      ->capture_default_str();
}

std::shared_ptr<const data::Augmenter> test_augmenter(std::int64_t views, const run::ModelDescription& model,
                                                      const std::optional<recipe::Recipe>& recipe,
                                                      data::SampleType type) {
  if (views == 1) return nullptr;
  const data::AugmentOptions options = recipe ? data::for_testing(recipe->augment) : data::AugmentOptions{};
  if (!options.changes_anything()) {
    throw Error(
        fmt::format(
            "--tta {}: {}", views,
            recipe ? "[augment] of the run neither moves pixels nor changes colors, so there are no views"
                   : "no recipe.toml next to the model says how to augment"),
        "leave --tta out, or train with [augment], for example horizontal_flip = true");
  }
  return std::make_shared<const data::Augmenter>(options, model.graph.input_shape(), type);
}

std::string describe(const std::filesystem::path& model_file, const run::ModelSet& models) {
  return models.members.size() == 1
             ? fmt::format("{}: one model", model_file.string())
             : fmt::format("{}: ensemble of {}", model_file.string(), models.members.size());
}

}  // namespace convoke::app
