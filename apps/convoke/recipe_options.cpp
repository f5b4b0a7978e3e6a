#include "recipe_options.hpp"

namespace convoke::app {

void add_recipe_options(CLI::App& parser, RecipeOptions& options) {
  parser
      .add_option("recipe", options.recipe,
                  "A recipe.toml, its folder, or a name: of a recipe of Convoke, or of a network of its zoo")
      ->required()
      ->type_name("RECIPE");
  parser.add_option("--set", options.changes, "Change a value of the recipe; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace convoke::app
