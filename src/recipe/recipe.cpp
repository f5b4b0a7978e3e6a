#include "convoke/recipe/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/versions.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/os/file.hpp"
#include "convoke/recipe/library.hpp"
#include "convoke/run/equal_ranks.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  if (std::optional<std::string> text = read_text(file)) return *std::move(text);
  throw Error(fmt::format("cannot read {}", file.string()), "check that the file exists and is readable");
}

constexpr std::array kTopKeys{
    key<&Recipe::name>({.name = "name",
                        .effect = Effect::kNone,
                        .fallback = "the folder's name",
                        .help = "the name of the recipe, used in the names of run folders"}),
    key<&Recipe::description>(
        {.name = "description", .effect = Effect::kNone, .help = "a description in one line"}),
    key<&Recipe::seed>({.name = "seed",
                        .range = {.least = 0},
                        .help =
                            "determines all random numbers: initial weights, order of the samples, dropout, "
                            "shards"}),
};

Section top_section() {
  return {"", "These keys come before the first section.", [] { return describe_keys(kTopKeys); },
          [](const Recipe& recipe) {
            Settings settings;
            write_keys(kTopKeys, recipe, settings);
            return settings;
          }};
}

// Names a recipe after its folder, or after its file (or a model's folder) if that is not called recipe.toml.
std::string name_from(const fs::path& source) {
  const bool in_folder = source.filename() == "recipe.toml";
  const fs::path named = in_folder ? fs::absolute(source).lexically_normal().parent_path()
                                   : (source / "").parent_path();  // without a slash at the end
  std::error_code unknown;
  const bool is_folder = in_folder || fs::is_directory(named, unknown);
  std::string name = (is_folder ? named.filename() : named.stem()).string();
  name.erase(0, name.find_first_not_of('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
  return name.empty() ? "recipe" : name;
}

// Returns a recipe for a published network, to inspect or to time it: `convoke summary resnet50`.
std::string of_zoo(const std::string& name) {
  return fmt::format(
      "name = \"{0}\"\n[data]\npath = \"{0}.h5\"\n[model]\nzoo = \"{0}\"\n[train]\nbatch = 16\n", name);
}

// Returns a recipe for a model file, likewise: `convoke bench model.onnx`.
std::string of_file(const std::string& file) {
  return fmt::format("name = {}\n[data]\npath = \"data.h5\"\n[model]\nfile = {}\n[train]\nbatch = 16\n",
                     Value(name_from(file)).to_string(), Value(file).to_string());
}

// Applies one "key=value" of the command line, e.g. "train.optimizer.learning_rate=0.01". Changed values get
// the argument as their place. Throws Error if the text is not key=value, and for layers, which have no key.
void apply_change(Settings& document, const std::string& change) {
  const std::string place = "--set " + change;
  const std::size_t equals = change.find('=');
  if (equals == std::string::npos)
    throw Error(place + ": expected key=value", "for example --set train.epochs=1");
  const std::string key = trimmed(change.substr(0, equals));
  if (key.starts_with("model.layers")) {
    throw Error(place + ": layers cannot be changed from the command line",
                "copy the recipe, change its layers = [...] and pass the path of the copy");
  }
  const std::string text = trimmed(change.substr(equals + 1));
  try {
    document.set_path(key, parse_value(text, place), place);
  } catch (const Error& error) {
    throw Error(place + ": " + error.what(), error.hint());
  }
}

// True for a recipe that Convoke stored with a run or a study, possibly in an earlier version.
bool is_stored(const fs::path& source) {
  const fs::path folder = source.parent_path();
  return fs::exists(folder / "environment.json") || fs::exists(folder / "summary.json") ||
         fs::exists(folder / "../study.toml");
}

// Reads [train] of a document, for example; a missing section is empty.
void read_section(const Section& section, const Settings& document, Recipe& recipe) {
  const Value* const value = document.find(section.name);
  Settings table;
  table.set_where(document.where());
  if (value != nullptr && value->table() == nullptr) {
    throw Error(fmt::format("{}: \"{}\" must be a section, but is {} ({})", document.place(section.name),
                            section.name, value->kind(), value->to_string()),
                fmt::format("write [{}] on a line of its own and its keys below", section.name));
  }
  if (value != nullptr) table = *value->table();
  SettingsReader read(table, fmt::format("[{}]", section.name));
  section.read(read, document, recipe);
}

// The name must be usable as the name of a run folder.
bool may_name_a_folder(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find_first_of("/\\") == std::string::npos &&
         one_line(name) == name;
}

void require_exact_to_verify(const Recipe& recipe) {
  if (recipe.run.execution.verify_every == 0 || recipe.train.step.reduction == engine::Reduction::kExact)
    return;
  throw Error(fmt::format("{}: run.verify_every compares the bits of gradients, which train.reduction = "
                          "\"fast\" does not keep equal",
                          recipe.name),
              "set train.reduction = \"exact\", or run.verify_every = 0");
}

// Ranks that train models of their own must keep their share of the samples, or the result would depend on
// their speed.
void require_common_steps(const Recipe& recipe) {
  if (!recipe.run.execution.balance || recipe.train.loop.strategy->sums_gradients(0)) return;
  throw Error(fmt::format("{}: run.balance divides the steps of one model, but with train.strategy = {} each "
                          "rank trains a model of its own",
                          recipe.name, recipe.train.loop.strategy->settings().find("name")->to_string()),
              "set run.balance to false, or use train.strategy = \"allreduce\"");
}

// A member's seed and share of the samples depend on the number of members.
void require_count_of_members(const Recipe& recipe) {
  if (recipe.ensemble.member < 0) return;
  if (recipe.train.mode != "ensemble") {
    throw Error(fmt::format("ensemble.member is {}, but {} trains one synchronous model",
                            recipe.ensemble.member, recipe.name),
                "remove ensemble.member, or train an ensemble: --set train.mode=ensemble");
  }
  if (recipe.ensemble.members == 0) {
    throw Error(fmt::format("ensemble.member is {}, but {} has one member per rank", recipe.ensemble.member,
                            recipe.name),
                "set the number of members, e.g. --set ensemble.members=4");
  }
}

}  // namespace

Recipe Recipe::load(const std::string& recipe, const std::vector<std::string>& changes) {
  const auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), recipe) != names.end();
  };
  if (const std::string special = os::special_kind(recipe); !special.empty()) {
    throw Error(fmt::format("{}: is {}, neither a recipe nor a model file", recipe, special), "name a file");
  }
  // A recipe with the name of a zoo network ("birds") is preferred to the network.
  if (!fs::exists(recipe) && !among(recipe_names()) && among(nn::zoo_names())) {
    return parse(of_zoo(recipe), recipe, changes);
  }
  if (fs::path(recipe).extension() != ".toml" && interop::is_model(recipe)) {
    return parse(of_file(recipe), recipe, changes);
  }
  const fs::path file = find_recipe(recipe);
  return parse(text_of(file), file.string(), changes);
}

std::optional<Recipe> Recipe::load_if_here(const std::string& recipe,
                                           const std::vector<std::string>& changes) {
  try {
    return load(recipe, changes);
  } catch (const MissingFile&) {
    return std::nullopt;
  }
}

Recipe Recipe::of_root(std::optional<Recipe> here, const std::string& recipe,
                       const std::vector<std::string>& changes, const mpi::Communicator& world) {
  const std::string resolved = mpi::on_root(world, [&] {
    if (!here) here = load(recipe, changes);
    return here->to_toml();
  });
  const std::string folder = mpi::on_root(world, [&] { return here->folder.string(); });
  if (!here) here = parse(resolved, recipe);
  run::require_equal(
      world, here->settings(),
      "start all ranks with one recipe and the same options; on hosts with folders of their own, "
      "copy the recipe again");
  here->folder = folder;
  return *std::move(here);
}

Recipe Recipe::parse(const std::string& toml, const std::string& source,
                     const std::vector<std::string>& changes) {
  Settings document = parse_toml(toml, source);
  if (is_stored(source)) rename_keys(document);
  for (const std::string& change : changes) apply_change(document, change);
  refuse_renamed_keys(document);

  require_known_keys(document);

  Recipe recipe;
  recipe.name = name_from(source);
  SettingsReader read(document, "recipe");
  read_keys(kTopKeys, read, recipe);
  read.check("name", may_name_a_folder(recipe.name), "text that can name a folder");
  recipe.description = one_line(recipe.description);

  read_section(model_section(), document, recipe);
  read_section(data_section(), document, recipe);
  if (recipe.model.normalizes && recipe.data.normalize != "none") {  // as predict and evaluate
    recipe.model.notes.push_back(fmt::format(
        "the network of {} normalizes its input itself, so data.normalize is \"none\", not \"{}\"",
        recipe.model.file, recipe.data.normalize));
    recipe.data.normalize = "none";
  }
  for (const auto section : {train_section, augment_section, ensemble_section, run_section, log_section}) {
    read_section(section(), document, recipe);
  }
  require_exact_to_verify(recipe);
  require_count_of_members(recipe);
  require_common_steps(recipe);
  note_unused_keys(recipe);
  recipe.folder = fs::path(source).parent_path();
  return recipe;
}

nn::Graph Recipe::graph() const {
  nn::Graph graph = graph_of(model);
  nn::apply(train.groups, graph);
  return graph;
}

std::int64_t Recipe::micro_batch() const {
  return train.step.micro_batch == 0 ? engine::auto_micro_batch(train.step.batch) : train.step.micro_batch;
}

double Recipe::learning_rate() const {
  const double rate = train.loop.learning_rate;
  if (train.reference_batch == 0) return rate;
  return rate * static_cast<double>(train.step.batch) / static_cast<double>(train.reference_batch);
}

Settings Recipe::settings() const {
  Settings all;
  write_keys(kTopKeys, *this, all);
  for (const Section& section : sections()) {
    if (section.name.empty() || (section.name == "augment" && model.input.size() != 3)) continue;
    all.set(section.name, section.write(*this));
  }
  return all;
}

std::span<const Section> sections() {
  static const std::array kSections{top_section(),   data_section(),     augment_section(), model_section(),
                                    train_section(), ensemble_section(), run_section(),     log_section()};
  return kSections;
}

std::string Section::path(std::string_view key) const {
  return name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
}

std::string Recipe::to_toml() const { return recipe::to_toml(settings()); }

}  // namespace convoke::recipe
