#include "models.hpp"

#include <fmt/format.h>

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

std::string describe(const std::filesystem::path& model_file, const run::ModelSet& models) {
  return models.members.size() == 1
             ? fmt::format("{}: one model", model_file.string())
             : fmt::format("{}: ensemble of {}", model_file.string(), models.members.size());
}

}  // namespace convoke::app
