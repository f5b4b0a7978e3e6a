#include "models.hpp"

#include <fmt/format.h>

#include <map>

#include "convoke/nn/backend.hpp"
#include "convoke/vote/rule.hpp"

namespace convoke::app {

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
                  "What to compute in (default: fp32, whatever the model was trained in)")
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

std::string describe(const std::filesystem::path& model_file, const run::ModelSet& models) {
  return models.members.size() == 1
             ? fmt::format("{}: one model", model_file.string())
             : fmt::format("{}: ensemble of {}", model_file.string(), models.members.size());
}

}  // namespace convoke::app
