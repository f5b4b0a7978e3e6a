#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/text.hpp"
#include "convoke/interop/model_io.hpp"

// Options that several commands have, and checks whose texts the help can show.

namespace convoke::app {

/// Not an empty name.
CLI::Validator named();

/// Adds an option or argument whose value the help calls `value`: "FILE". An --output must be named.
template <class T>
CLI::Option* add_option(CLI::App& parser, const std::string& name, T& to, const std::string& value,
                        const std::string& text) {
  CLI::Option* option = parser.add_option(name, to, text)->type_name(value);
  return name == "--output" ? option->check(named()) : option;
}

/// How a model file of another program is read: the options of every command that takes one.
struct ModelReading {
  interop::ImportOptions import;
  std::string outputs;  ///< what its outputs are, see interop::declare_outputs; empty: as the file says
};

/// --input, --output-node and --outputs.
void add_model_reading(CLI::App& parser, ModelReading& reading);

/// Which recipe, and the changes to it: the arguments of every command with a recipe.
struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> changes;  ///< "key=value"; those of `reading` follow those of --set
  ModelReading reading;              ///< of a model file in place of a recipe
};

void add_recipe_options(CLI::App& parser, RecipeOptions& options);

/// The argument "model": a model file or the folder of a run.
void add_model(CLI::App& parser, std::string& model);

/// --threads: worker threads per rank; 0: auto.
void add_threads(CLI::App& parser, int& threads);

/// An option or argument whose value is one of a few words, which the help and the completion list.
CLI::Option* add_choice(CLI::App& parser, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& text);

/// As above, for an enumeration: the word of each of its values.
template <class Enum>
CLI::Option* add_choice(CLI::App& parser, const std::string& name, Enum& value,
                        const std::vector<std::pair<std::string, Enum>>& words, const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [word, of] : words) names.push_back(word);
  // The last transformation is the first that runs.
  return add_option(parser, name, value, join(names, "|"), text)
      ->transform(CLI::Transformer(words).description(""))
      ->transform(CLI::IsMember(names).description(""));
}

/// A number above 0.
CLI::Validator positive();
/// A number in [least, most]. The help says "1 to 50000".
CLI::Validator in_range(double least, double most);

}  // namespace convoke::app
