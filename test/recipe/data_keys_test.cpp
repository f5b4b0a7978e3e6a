// Keys of [data] for validation samples, the order of samples, and memory.
#include "convoke/recipe/recipe.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::recipe;

namespace {

Recipe with(const std::string& keys) {
  return Recipe::parse(fmt::format(R"(name = "small"
[data]
path = "x.h5"
{}
[model]
input = [1, 8, 8]
layers = [{{ layer = "flatten" }}, {{ layer = "dense", units = 3 }}]
[train]
batch = 8
early_stopping = {{ patience = 2 }}
)",
                                   keys),
                       "r.toml");
}

std::string refused(const std::string& keys) {
  return error_of([&] { with(keys); });
}

}  // namespace

TEST_CASE("validation uses a fraction of the training samples, or a separate split") {
  const Recipe fraction = with("validation_split = 0.1");
  CHECK(fraction.data.samples.validation_split == 0.1);
  CHECK(fraction.data.validation_name.empty());
  const Recipe named = with("validation_split = \"validation\"");
  CHECK(named.data.samples.validation_split == 0);
  CHECK(named.data.validation_name == "validation");  // gives early stopping its samples
  for (const Recipe& recipe : {fraction, named}) CHECK(Recipe::parse(recipe.to_toml(), "again") == recipe);

  CHECK_THAT(refused(""), Contains("early stopping needs validation samples"));
  CHECK_THAT(refused("validation_split = \"train\""), Contains("a split other than data.train_split"));
  CHECK_THAT(refused("validation_split = \"\""), Contains("a fraction, or the name of a split"));
  CHECK_THAT(refused("validation_split = true"), Contains("validation_split"));
}

TEST_CASE("a fraction of the training samples is above 0 and at most 1") {
  const std::string base = "validation_split = 0.1\n";
  CHECK(with(base).data.samples.fraction == 1);
  const Recipe quarter = with(base + "fraction = 0.25");
  CHECK(quarter.data.samples.fraction == 0.25);
  CHECK(Recipe::parse(quarter.to_toml(), "again") == quarter);
  for (const char* fraction : {"0.0", "-0.5", "1.01", "nan"}) {
    CHECK_THAT(refused(base + "fraction = " + fraction),
               Contains("\"fraction\" must be above 0 and at most 1"));
  }
}

TEST_CASE("samples are shuffled all together, in chunks, or not at all") {
  const std::string base = "validation_split = 0.1\n";
  CHECK(with(base).data.shuffle_of(64).on);
  CHECK(with(base).data.shuffle_of(64).chunk == 0);
  CHECK_FALSE(with(base + "shuffle = false").data.shuffle_of(64).on);
  const Recipe chunks = with(base + "shuffle = \"chunks\"");
  CHECK(chunks.data.shuffle_of(1024).chunk == 1024);         // 1 MiB
  CHECK(chunks.data.shuffle_of(1024).window == 256 * 1024);  // 256 MiB
  CHECK(chunks.data.shuffle_of(3 << 20).chunk == 1);
  CHECK(chunks.data.shuffle_of(3 << 20).window == 85);
  const Recipe window = with(base + "shuffle = \"chunks\"\nwindow = \"1.5 MiB\"");
  CHECK(window.data.shuffle_of(1024).window == 1024);  // rounded to whole chunks
  for (const Recipe& recipe : {with(base), with(base + "shuffle = false"), chunks, window}) {
    CHECK(Recipe::parse(recipe.to_toml(), "again") == recipe);
  }
  CHECK_FALSE(chunks == window);

  CHECK_THAT(refused(base + "shuffle = \"chunk\""),
             Contains("\"shuffle\" must be true, false or \"chunks\""));
  CHECK_THAT(refused(base + "shuffle = 3"), Contains("shuffle"));
  CHECK_THAT(refused(base + "window = \"1GiB\""), Contains("left out unless data.shuffle is \"chunks\""));
  CHECK_THAT(refused(base + "shuffle = \"chunks\"\nwindow = \"large\""), Contains("a size like \"256MiB\""));
}

TEST_CASE("the memory for samples is a size, or automatic") {
  const std::string base = "validation_split = 0.1\n";
  CHECK(with(base).data.memory == 0);
  CHECK(with(base + "memory = \"auto\"").data.memory == 0);
  const Recipe half = with(base + "memory = \"512MiB\"");
  CHECK(half.data.memory == std::uint64_t{512} << 20);
  CHECK(Recipe::parse(half.to_toml(), "again") == half);
  CHECK_THAT(
      refused(base + "memory = \"512\""),
      Contains("r.toml:5: [data]: \"memory\" must be \"auto\" or a size like \"512MiB\", but is \"512\""));
}
