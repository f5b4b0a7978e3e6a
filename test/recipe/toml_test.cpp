#include "convoke/recipe/toml.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using convoke::Settings;
using convoke::Value;
using convoke::recipe::parse_toml;
using convoke::recipe::parse_value;
using convoke::recipe::to_toml;

namespace {

constexpr const char* kText = R"(zeta = 3
alpha = "a \"quoted\" word"

[train]
epochs = 5
rate = 1e-3
shuffle = true
optimizer = { name = "adam", beta_1 = 0.5 }

[model]
input = [1, 28, 28]
layers = [
  { layer = "conv2d", kernel = [3, 5] },
  { layer = "relu" },
]

[train.schedule]
name = "cosine"
)";

std::string dotted_key(int parts) {
  std::string key = "b";
  for (int part = 1; part < parts; ++part) key += ".b";
  return key;
}

std::string toml_error(const std::string& text) {
  return error_of([&] { parse_toml(text, "recipe.toml"); });
}

}  // namespace

TEST_CASE("TOML becomes settings in the order of the text, with the types of TOML") {
  const Settings document = parse_toml(kText, "recipe.toml");
  const Settings expected{
      {"zeta", 3},
      {"alpha", "a \"quoted\" word"},
      {"train", Settings{{"epochs", 5},
                         {"rate", 1e-3},
                         {"shuffle", true},
                         {"optimizer", Settings{{"name", "adam"}, {"beta_1", 0.5}}},
                         {"schedule", Settings{{"name", "cosine"}}}}},
      {"model",
       Settings{{"input", Value::Array{1, 28, 28}},
                {"layers", Value::Array{Settings{{"layer", "conv2d"}, {"kernel", Value::Array{3, 5}}},
                                        Settings{{"layer", "relu"}}}}}},
  };
  CHECK(document == expected);
}

TEST_CASE("every table and every value has its line") {
  const Settings document = parse_toml(kText, "recipe.toml");
  const Settings& train = *document.find("train")->table();
  CHECK(train.where() == "recipe.toml:4");
  CHECK(train.find("optimizer")->table()->where() == "recipe.toml:8");
  CHECK(train.find("schedule")->table()->where() == "recipe.toml:17");
  const auto& layers = std::get<Value::Array>(document.find("model")->table()->find("layers")->data());
  CHECK(layers[0].table()->where() == "recipe.toml:13");
  CHECK(layers[1].table()->where() == "recipe.toml:14");

  CHECK(document.place("alpha") == "recipe.toml:2");
  CHECK(document.place("train.shuffle") == "recipe.toml:7");
  CHECK(document.place("train.optimizer.beta_1") == "recipe.toml:8");
  CHECK(document.place("train.not_there") == "recipe.toml:4");
  CHECK(document.place("nor.this") == "recipe.toml");
}

TEST_CASE("invalid TOML is refused with its line") {
  CHECK_THAT(toml_error("a = 1\nb = \n"), Catch::Matchers::StartsWith("recipe.toml:2: "));
  CHECK_THAT(toml_error("a = 1\n\na = 2\n"), Catch::Matchers::StartsWith("recipe.toml:3: "));
  CHECK_THAT(toml_error("[train]\nlayers = [ { layer = \"relu\" \n"),
             Catch::Matchers::StartsWith("recipe.toml:"));
  CHECK(toml_error("a = 1\nb = 2024-05-01\n") == "recipe.toml:2: dates and times are not supported");
  CHECK(toml_error("a = 1\n" + dotted_key(101) + " = 1\n") ==
        "recipe.toml:2: tables are nested more than 100 deep");
  CHECK(toml_error("a = 1\n" + dotted_key(6000) + " = 1\n") ==
        "recipe.toml:2: the line has more than 5000 dots");
}

TEST_CASE("settings that are written as TOML and read back are equal") {
  const Settings settings = parse_toml(kText, "recipe.toml");
  const std::string text = to_toml(settings);
  CHECK(parse_toml(text, "again") == settings);
  CHECK(text == R"(zeta = 3
alpha = "a \"quoted\" word"

[train]
epochs = 5
rate = 0.001
shuffle = true
optimizer = { name = "adam", beta_1 = 0.5 }
schedule = { name = "cosine" }

[model]
input = [1, 28, 28]
layers = [
  { layer = "conv2d", kernel = [3, 5] },
  { layer = "relu" },
]
)");
  const Settings odd{
      {"tiny", 1e-300}, {"text", "two\nlines\tand \\"}, {"none", Value::Array{}}, {"t", Settings{}}};
  CHECK(parse_toml(to_toml(odd), "odd") == odd);
  CHECK_THAT(error_of([] {
               to_toml(Settings{{"path", "lat\xE9n/a.h5"}});
             }),
             Contains("path = ") && Contains("is not UTF-8"));
}

TEST_CASE("a value on the command line is TOML, otherwise text") {
  CHECK(parse_value("3", "") == Value(3));
  CHECK(parse_value("1e-3", "") == Value(1e-3));
  CHECK(parse_value("true", "") == Value(true));
  CHECK(parse_value("[3, 32, 32]", "") == Value(Value::Array{3, 32, 32}));
  CHECK(parse_value("adam", "") == Value("adam"));
  CHECK(parse_value("\"3\"", "") == Value("3"));
  CHECK(parse_value("2024-05-01", "") == Value("2024-05-01"));
  CHECK(parse_value("", "") == Value(""));
  CHECK(parse_value("1\nother = 2", "") == Value("1\nother = 2"));
  const Value table = parse_value("{ name = \"sgd\", momentum = 0.9 }", "--set x={...}");
  REQUIRE(table.table() != nullptr);
  CHECK(*table.table() == Settings{{"name", "sgd"}, {"momentum", 0.9}});
  CHECK(table.table()->where() == "--set x={...}");
}
