#include "convoke/recipe/library.hpp"

#include "convoke/recipe/recipe.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"
#include "support/variable.hpp"

using convoke::Error;
using convoke::recipe::find_recipe;
using convoke::recipe::Recipe;
using convoke::recipe::recipe_names;
using convoke::recipe::recipes_beside;
using convoke::recipe::resolve_dataset;

namespace {

struct Folder : TemporaryFolder {
  fs::path write(const fs::path& name, const std::string& text) const {
    write_file(path() / name, text);
    return path() / name;
  }
};

constexpr const char* kDigits = R"([data]
path = "set/digits.h5"
[model]
input = [4]
layers = [ { layer = "dense", units = 2, activation = "softmax" } ]
)";

std::string not_found(const std::string& recipe) {
  return refusal_of([&] { find_recipe(recipe); });
}

}  // namespace

TEST_CASE("a recipe is found as a file, a folder and by name") {
  const Folder folder;
  const fs::path file = folder.write("own/digits/recipe.toml", kDigits);
  const Variable recipes("CONVOKE_RECIPES", (folder.path() / "own").string());
  CHECK(find_recipe(file.string()) == file);
  CHECK(find_recipe(file.parent_path().string()) == file);
  CHECK(find_recipe("digits") == file);
  const std::vector<std::string> names = recipe_names();
  CHECK(std::find(names.begin(), names.end(), "digits") != names.end());

  const std::string error = not_found("digit");
  CAPTURE(error);
  CHECK(error.find("unknown recipe \"digit\" (did you mean \"digits\"?) | known: ") == 0);
  CHECK_THAT(not_found((folder.path() / "own").string()), Contains("has no recipe.toml"));
  CHECK_THAT(not_found((folder.path() / "no/recipe.toml").string()), Contains("recipe.toml\": no such file"));
  CHECK(Recipe::load("digits").name == "digits");
  CHECK(Recipe::load(folder.write("own/other.toml", kDigits).string()).name == "other");
  const fs::path dotted = folder.write("exp-0.1/recipe.toml", kDigits).parent_path();
  CHECK(Recipe::load(dotted.string()).name == "exp-0.1");
  CHECK(Recipe::load((dotted / "../exp-0.1/./recipe.toml").string()).name == "exp-0.1");
  CHECK(Recipe::load(folder.write(".hidden/recipe.toml", kDigits).string()).name == "hidden");
}

TEST_CASE("a program finds its recipes wherever it was built or installed") {
  const Folder folder;
  const auto recipes = [&](const char* place) {
    return folder.write(fs::path(place) / "digits/recipe.toml", kDigits).parent_path().parent_path();
  };
  CHECK(recipes_beside(folder.path() / "elsewhere/convoke") == fs::path());
  const fs::path source = recipes("source/apps/recipes");
  CHECK(recipes_beside(folder.path() / "source/build/dev/convoke") == source);
  CHECK(recipes_beside(folder.path() / "source/cmake-build/convoke") == source);
  CHECK(recipes_beside(folder.path() / "source/build/dev/test/recipe/recipe_test") == source);
  const fs::path installed = recipes("prefix/share/convoke/recipes");
  CHECK(recipes_beside(folder.path() / "prefix/bin/convoke") == installed);
  // The layout of a build folder.
  fs::create_directories(folder.path() / "x/y/share/convoke");
  fs::create_directory_symlink(source, folder.path() / "x/y/share/convoke/recipes");
  CHECK(recipes_beside(folder.path() / "x/y/convoke") == folder.path() / "x/y/share/convoke/recipes");
  CHECK(recipes_beside(folder.path() / "x/y/Debug/convoke") == folder.path() / "x/y/share/convoke/recipes");
}

TEST_CASE("the dataset of a recipe is searched in its folder, under CONVOKE_DATA and in the cache") {
  const Folder folder;
  folder.write("digits/recipe.toml", kDigits);
  const Variable data("CONVOKE_DATA", (folder.path() / "data").string()), cache("XDG_CACHE_HOME", ""),
      home("HOME", (folder.path() / "home").string());
  const Recipe recipe = Recipe::load((folder.path() / "digits").string());
  const std::string refusal = refusal_of([&] { resolve_dataset(recipe); });
  CAPTURE(refusal);
  CHECK_THAT(refusal, Contains("\"set/digits.h5\""));
  CHECK_THAT(refusal, Contains((folder.path() / "data/set/digits.h5").string()));
  CHECK_THAT(refusal, Contains("convoke prepare SOURCE --output set/digits.h5"));
  // Files are created in reverse order: each is preferred to the ones before.
  for (const char* place :
       {"home/.cache/convoke/set/digits.h5", "data/set/digits.h5", "digits/set/digits.h5"}) {
    const fs::path file = folder.write(place, "");
    CHECK(resolve_dataset(recipe) == file);
  }
  const Recipe absolute =
      Recipe::load((folder.path() / "digits").string(), {"data.path=" + (folder.path() / "no.h5").string()});
  CHECK_THROWS_AS(resolve_dataset(absolute), Error);
}

TEST_CASE("the recipes that come with Convoke have the expected parameter counts and settings") {
  const Variable recipes("CONVOKE_RECIPES", source_path("apps/recipes"));
  const Recipe ensemble = Recipe::load("mnist-ensemble");
  const Recipe sync = Recipe::load("mnist-sync");
  const Recipe ddp = Recipe::load("mnist-ddp");

  // The papers' parameter counts.
  CHECK(ensemble.graph().parameter_count() == 93322);
  CHECK(sync.graph().parameter_count() == 93322);
  CHECK(ddp.graph().parameter_count() == 906186);
  CHECK(ddp.graph().trainable_count() == 905354);

  CHECK(ensemble.train.mode == "ensemble");
  CHECK(ensemble.ensemble.members == 0);
  CHECK(ensemble.train.step.batch == 64);
  CHECK(ensemble.train.loop.epochs == 5);
  CHECK(ensemble.data.samples.validation_split == 0.2);
  CHECK(ddp.train.step.batch == 2048);
  CHECK(ddp.train.loop.epochs == 30);
  CHECK(ddp.data.samples.validation_split == 0.0);

  // The twin differs only in its mode.
  const Recipe twin = Recipe::load("mnist-ensemble",
                                   {"train.mode=sync", "name=mnist-sync", "description=" + sync.description});
  CHECK(twin == sync);
}

TEST_CASE("the recipes of the other seed systems have the published settings") {
  const Variable recipes("CONVOKE_RECIPES", source_path("apps/recipes"));
  const auto optimizer = [](const Recipe& recipe, const char* key) {
    return *recipe.train.loop.optimizer->settings().find(key);
  };

  const Recipe leaves = Recipe::load("tomato-leaf");
  CHECK(leaves.graph().parameter_count() == 4288970);
  CHECK(leaves.train.loop.epochs == 100);
  CHECK(leaves.data.test_split == "validation");

  const Recipe birds = Recipe::load("birds");
  CHECK(birds.graph().input_shape() == convoke::Shape{3, 224, 224});
  CHECK(birds.graph().output_shape() == convoke::Shape{525});
  CHECK(birds.train.loop.epochs == 15);

  const Recipe patterns = Recipe::load("io-patterns");
  CHECK(patterns.graph().parameter_count() == 78);
  CHECK(patterns.train.loop.epochs == 50);
  CHECK(patterns.train.step.batch == 256);
  CHECK(optimizer(patterns, "name") == convoke::Value("rmsprop"));
  CHECK(optimizer(patterns, "momentum") == convoke::Value(0.9));

  const Recipe reviews = Recipe::load("imdb-sentiment");
  CHECK(reviews.graph().input_shape() == convoke::Shape{300});
  CHECK(reviews.train.step.batch == 1024);
  CHECK(reviews.train.loop.epochs == 5);
  CHECK(Recipe::load("tweet-sentiment").graph().parameter_count() == reviews.graph().parameter_count());

  const Recipe eyes = Recipe::load("retinopathy");
  CHECK(eyes.graph().input_shape() == convoke::Shape{3, 256, 256});
  CHECK(eyes.train.loop.learning_rate == 1.4e-3);
  CHECK(eyes.train.step.batch == 256);
  CHECK(eyes.train.loop.epochs == 25);

  CHECK(Recipe::load("solar-cells").graph().output_shape() == convoke::Shape{2});
}
