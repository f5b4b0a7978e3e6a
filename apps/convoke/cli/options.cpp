#include "cli/options.hpp"

#include <fmt/format.h>

#include <optional>

#include "convoke/core/settings.hpp"
#include "convoke/core/text.hpp"

namespace convoke::app {
namespace {

// The changes to a recipe that read its model file so.
std::vector<std::string> changes_for(const ModelReading& reading) {
  std::vector<std::string> changes;
  const auto change = [&](const char* key, const Value& value) {
    changes.push_back(fmt::format("model.{}={}", key, value.to_string()));
  };
  const std::vector<std::int64_t>& extents = reading.import.input.extents();
  if (!extents.empty()) change("input", Value::Array(extents.begin(), extents.end()));
  if (!reading.import.output.empty()) change("output_node", reading.import.output);
  if (!reading.outputs.empty()) change("outputs", reading.outputs);
  return changes;
}

}  // namespace

void add_recipe_options(CLI::App& parser, RecipeOptions& options) {
  add_option(parser, "recipe", options.recipe, "RECIPE",
             "A recipe file (TOML), a folder with a recipe.toml, the name of a recipe that comes with "
             "Convoke (mnist-sync) or of a network (resnet50), or a model file (model.onnx)")
      ->required();
  add_option(parser, "--set", options.changes, "KEY=VALUE",
             "Change a value of the recipe, for example train.epochs=10")
      ->allow_extra_args(false);
  add_model_reading(parser, options.reading);
  parser.parse_complete_callback([&options] {
    for (std::string& change : changes_for(options.reading)) options.changes.push_back(std::move(change));
  });
}

void add_model(CLI::App& parser, std::string& model) {
  add_option(parser, "model", model, "MODEL",
             "The folder of a run, or a model file: model.h5, ensemble.h5, ONNX, Keras")
      ->required();
}

void add_model_reading(CLI::App& parser, ModelReading& reading) {
  parser
      .add_option_function<std::vector<std::int64_t>>(
          "--input",
          [&reading](const std::vector<std::int64_t>& extents) { reading.import.input = Shape(extents); },
          "The shape of one sample, C,H,W, L,F, F or L, for a model file that leaves it open")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(positive())
      ->type_name("SHAPE");
  add_option(parser, "--output-node", reading.import.output, "NAME",
             "The output to take of a model file that has several; by default the first of ONNX");
  add_choice(parser, "--outputs", reading.outputs, interop::output_kinds(),
             "The kind of the outputs of a model file; by default the file, or its last layers and first "
             "outputs, decide");
}

void add_threads(CLI::App& parser, int& threads) {
  add_option(parser, "--threads", threads, "N",
             "Worker threads of each rank; 0 divides the cores among the ranks")
      ->check(in_range(0, 4096).description(""))
      ->capture_default_str();
}

CLI::Option* add_choice(CLI::App& parser, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& text) {
  return add_option(parser, name, value, join(words, "|"), text)
      ->check(CLI::IsMember(words).description(""))
      ->capture_default_str();
}

CLI::Validator positive() {
  return CLI::Validator(
      [](const std::string& text) {
        const std::optional<double> value = parse_number<double>(text);
        return value && *value > 0 ? std::string()
                                   : fmt::format("must be a number above 0, but is \"{}\"", text);
      },
      "");
}

CLI::Validator in_range(double least, double most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return CLI::Validator(
      [least, most, range](const std::string& text) {
        const std::optional<double> value = parse_number<double>(text);
        return value && *value >= least && *value <= most
                   ? std::string()
                   : fmt::format("must be {}, but is \"{}\"", range, text);
      },
      range);
}

CLI::Validator named() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "names nothing" : ""; }, "");
}

}  // namespace convoke::app
