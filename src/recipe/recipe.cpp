#include "convoke/recipe/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "changes.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text_file.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/recipe/library.hpp"
#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  if (std::optional<std::string> text = read_text(file)) return *std::move(text);
  throw Error(fmt::format("cannot read {}", file.string()), "check that the file is there and may be read");
}

// A recipe without a name is called after its folder, or its file if that is not called recipe.toml.
std::string name_from(const fs::path& source) {
  const fs::path named = source.filename() == "recipe.toml" ? fs::absolute(source).parent_path() : source;
  std::string name = named.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
  return name.empty() ? "recipe" : name;
}

// A published network in a recipe of its own, to look at or to time: `convoke summary resnet50`.
std::string of_zoo(const std::string& name) {
  return fmt::format(
      "name = \"{0}\"\n[data]\npath = \"{0}.h5\"\n[model]\nzoo = \"{0}\"\n[train]\nbatch = 16\n", name);
}

// Run folders are called after the recipe.
bool may_name_a_folder(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find_first_of("/\\\n\t") == std::string::npos;
}

void require_validation(const Recipe& recipe) {
  if (recipe.data.validates()) return;
  const TrainRecipe& train = recipe.train;
  if (optim::make_schedule(train.schedule)->needs_validation()) {
    throw Error(fmt::format("{}: schedule {} looks at the validation loss, but data.validation_split is 0",
                            train.schedule.where(), train.schedule.find("name")->to_string()),
                "set data.validation_split, say to 0.1, or choose another schedule");
  }
  if (!train.early_stopping.empty()) {
    throw Error(fmt::format("{}: early stopping looks at validation, but data.validation_split is 0",
                            train.early_stopping.where()),
                "set data.validation_split, say to 0.1, or leave early_stopping out");
  }
  if (train.validate_every > 0) {
    throw Error(fmt::format("{}: validate_every is {}, but data.validation_split is 0", recipe.name,
                            train.validate_every),
                "set data.validation_split, say to 0.1, or validate_every to 0");
  }
}

}  // namespace

Recipe Recipe::load(const std::string& recipe, const std::vector<std::string>& changes) {
  const auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), recipe) != names.end();
  };
  // A recipe that is called like a network of the zoo ("birds") says more than the network alone.
  if (!fs::exists(recipe) && !among(recipe_names()) && among(nn::zoo_names())) {
    return parse(of_zoo(recipe), recipe, changes);
  }
  const fs::path file = find_recipe(recipe);
  return parse(text_of(file), file.string(), changes);
}

Recipe Recipe::parse(const std::string& toml, const std::string& source,
                     const std::vector<std::string>& changes) {
  TomlDocument document = parse_toml(toml, source);
  for (const std::string& change : changes) apply_change(document, change);

  Recipe recipe;
  SectionReader read(document, "");
  recipe.name = read.get("name", name_from(source));
  read.check("name", may_name_a_folder(recipe.name), "text that can name a folder");
  recipe.description = read.get("description", "");
  recipe.seed = static_cast<std::uint64_t>(read.get_count("seed", 1, 0));
  for (const char* section : {"data", "augment", "model", "train", "ensemble", "run", "log"})
    read.has(section);
  read.finish();

  recipe.model = read_model(document);
  recipe.data = read_data(document, recipe.model);
  recipe.train = read_train(document, recipe.model);
  recipe.augment = read_augment(document, recipe.model, recipe.lane());
  recipe.ensemble = read_ensemble(document);
  recipe.run = read_run(document);
  recipe.log = read_log(document);
  require_validation(recipe);
  recipe.folder = fs::path(source).parent_path();
  return recipe;
}

nn::Graph Recipe::graph() const {
  nn::Graph graph = graph_of(model);
  nn::apply(train.groups, graph);
  return graph;
}

std::int64_t Recipe::lane() const { return train.lane == 0 ? engine::auto_lane(train.batch) : train.lane; }

double Recipe::learning_rate() const {
  if (train.reference_batch == 0) return train.learning_rate;
  return train.learning_rate * static_cast<double>(train.batch) / static_cast<double>(train.reference_batch);
}

Settings Recipe::settings() const {
  Settings all{{"name", name},
               {"description", description},
               {"seed", static_cast<std::int64_t>(seed)},
               {"data", write(data)}};
  if (model.input.size() == 3) all.set("augment", write(augment));
  all.set("model", write(model));
  all.set("train", write(train));
  all.set("ensemble", write(ensemble));
  all.set("run", write(run));
  all.set("log", write(log));
  return all;
}

std::string Recipe::to_toml() const { return recipe::to_toml(settings()); }

}  // namespace convoke::recipe
