#include "results/models.hpp"

#include <fmt/format.h>

#include <map>

#include "cli/options.hpp"
#include "convoke/core/error.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/run/model_exchange.hpp"
#include "convoke/vote/rule.hpp"

namespace convoke::app {

run::ModelSet models_of(const std::filesystem::path& file, const mpi::Communicator& world) {
  return run::models_from_root(world, [&] {
    interop::Imported imported = interop::read_model(file);
    for (const std::string& note : imported.notes) fmt::print(stderr, "note: {}\n", note);
    if (!imported.normalization_note.empty()) fmt::print(stderr, "note: {}\n", imported.normalization_note);
    return std::move(imported.models);
  });
}

std::optional<recipe::Recipe> recipe_beside(const std::filesystem::path& model_file) {
  const std::filesystem::path file = model_file.parent_path() / "recipe.toml";
  if (!std::filesystem::exists(file)) return std::nullopt;
  return recipe::Recipe::load(file.string());
}

std::string voting_rule(const std::string& rule, const std::optional<recipe::Recipe>& recipe) {
  const std::string chosen = !rule.empty() ? rule : recipe ? recipe->ensemble.rule : "majority";
  vote::find_rule(chosen);
  return chosen;
}

void add_precision(CLI::App& parser, nn::Precision& precision) {
  static const std::map<std::string, nn::Precision> kPrecisions{{"fp32", nn::Precision::kFloat32},
                                                                {"bf16", nn::Precision::kBfloat16}};
  parser
      .add_option("--precision", precision,
                  "The precision to compute in; fp32 by default, whatever the training used")
      ->transform(CLI::CheckedTransformer(kPrecisions).description(""))
      ->type_name("fp32|bf16");
}

std::string precision_text(nn::Precision precision, const run::ModelDescription& model,
                           const std::optional<recipe::Recipe>& recipe) {
  nn::require_precision(precision, recipe && recipe->train.emulate_bf16);
  const std::string here = recipe::to_string(precision);
  return model.precision == precision
             ? here
             : fmt::format("{}; trained in {}", here, recipe::to_string(model.precision));
}

CLI::Option* add_views(CLI::App& parser, std::int64_t& views) {
  return parser
      .add_option(
          "--tta", views,
          "Test-time augmentation: average the outputs for N views of each sample, which [augment] of "
          "the run makes")
      ->check(in_range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
}

std::shared_ptr<const data::Augmenter> test_augmenter(std::int64_t views, const run::ModelDescription& model,
                                                      const std::optional<recipe::Recipe>& recipe,
                                                      data::SampleType type) {
  if (views == 1) return nullptr;
  const data::AugmentOptions options = recipe ? data::for_testing(recipe->augment) : data::AugmentOptions{};
  if (options == data::AugmentOptions{}) {
    throw Error(
        fmt::format(
            "--tta {}: {}", views,
            recipe ? "[augment] of the run neither moves pixels nor changes colours, so there are no views"
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
