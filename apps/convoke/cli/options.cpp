#include "cli/options.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"

namespace convoke::app {

void add_recipe_options(CLI::App& parser, RecipeOptions& options) {
  parser
      .add_option("recipe", options.recipe,
                  "A recipe file (TOML), a folder with a recipe.toml, the name of a recipe that comes with "
                  "Convoke (mnist-sync) or of a network (resnet50), or a model file (model.onnx)")
      ->required()
      ->type_name("RECIPE");
  parser.add_option("--set", options.changes, "Change a value of the recipe, for example train.epochs=10")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_model(CLI::App& parser, std::string& model) {
  parser
      .add_option("model", model, "The folder of a run, or a model file: model.h5, ensemble.h5, ONNX, Keras")
      ->required()
      ->type_name("MODEL");
}

void add_import_options(CLI::App& parser, interop::ImportOptions& options) {
  parser
      .add_option_function<std::vector<std::int64_t>>(
          "--input", [&options](const std::vector<std::int64_t>& extents) { options.input = Shape(extents); },
          "The shape of one sample, C,H,W, L,F, F or L, for a model file that leaves it open")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber)
      ->type_name("SHAPE");
  parser
      .add_option("--output-node", options.output,
                  "The output to take of a model file that has several; by default the first of ONNX")
      ->type_name("NAME");
}

void add_threads(CLI::App& parser, int& threads) {
  parser.add_option("--threads", threads, "Worker threads of each rank; 0 divides the cores among the ranks")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->capture_default_str();
}

CLI::Option* add_choice(CLI::App& parser, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& text) {
  return parser.add_option(name, value, text)
      ->check(CLI::IsMember(words).description(""))
      ->type_name(join(words, "|"))
      ->capture_default_str();
}

CLI::Validator in_range(double least, double most) {
  return CLI::Range(least, most).description(fmt::format("{} to {}", least, most));
}

}  // namespace convoke::app
