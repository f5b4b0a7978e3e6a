#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "convoke/interop/model_io.hpp"

// Options that several commands have, and checks whose texts the help can show.

namespace convoke::app {

/// Which recipe, and the changes to it: the arguments of every command with a recipe.
struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> changes;
};

void add_recipe_options(CLI::App& parser, RecipeOptions& options);

/// The argument "model": a model file or the folder of a run.
void add_model(CLI::App& parser, std::string& model);

/// --input and --output-node: what a model file of another program leaves open.
void add_import_options(CLI::App& parser, interop::ImportOptions& options);

/// --threads: worker threads per rank; 0: auto.
void add_threads(CLI::App& parser, int& threads);

/// An option or argument whose value is one of a few words, which the help and the completion list.
CLI::Option* add_choice(CLI::App& parser, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& text);

/// A number in [least, most]. The help says "1 to 50000".
CLI::Validator in_range(double least, double most);

}  // namespace convoke::app
