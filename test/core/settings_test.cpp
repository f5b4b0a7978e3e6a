#include "convoke/core/settings.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

namespace {

Settings example() {
  Settings settings{{"flag", true},
                    {"count", 3},
                    {"rate", 0.5},
                    {"name", "adam"},
                    {"kernel", Value::Array{3, 5}},
                    {"tags", Value::Array{"a", "b"}},
                    {"inner", Settings{{"x", 1}}}};
  settings.set_where("recipe.toml:14");
  return settings;
}

}  // namespace

TEST_CASE("settings are read with their types") {
  const Settings settings = example();
  SettingsReader read(settings, "layer \"conv2d\"");
  CHECK(read.get("flag", false));
  CHECK(read.get("count", 0) == 3);
  CHECK(read.get("rate", 0.0) == 0.5);
  CHECK(read.get("count", 0.0) == 3.0);  // a whole number read as a number
  CHECK(read.get("name", "sgd") == "adam");
  CHECK(read.get("kernel", std::vector<std::int64_t>{}) == std::vector<std::int64_t>{3, 5});
  CHECK(read.get("count", std::vector<std::int64_t>{}) == std::vector<std::int64_t>{3});
  CHECK(read.get("kernel", std::vector<double>{}) == std::vector<double>{3, 5});
  CHECK(read.get("count", std::vector<double>{}) == std::vector<double>{3});
  CHECK(read.get("tags", std::vector<std::string>{}) == std::vector<std::string>{"a", "b"});
  CHECK(read.get("name", std::vector<std::string>{}) == std::vector<std::string>{"adam"});
  CHECK(read.table("inner") == Settings{{"x", 1}});
  CHECK(read.require_int("count") == 3);
  CHECK(read.require_string("name") == "adam");
  CHECK(read.has("rate"));
  CHECK_NOTHROW(read.finish());
}

TEST_CASE("absent settings read as the fallback") {
  const Settings settings;
  SettingsReader read(settings, "model");
  CHECK(read.get("flag", true));
  CHECK(read.get("count", 7) == 7);
  CHECK(read.get("rate", 0.25) == 0.25);
  CHECK(read.get("name", "sgd") == "sgd");
  CHECK(read.get("kernel", std::vector<std::int64_t>{1}) == std::vector<std::int64_t>{1});
  CHECK(read.get("kernel", std::vector<double>{0.5}) == std::vector<double>{0.5});
  CHECK(read.table("inner").empty());
  CHECK(read.tables("layers").empty());
  CHECK_FALSE(read.has("flag"));
  CHECK(refusal_of([&] { read.require_int("count"); }) == "model: \"count\" is missing | ");
}

TEST_CASE("settings of a wrong type are refused with place, key, expected type and value") {
  const Settings settings = example();
  SettingsReader read(settings, "layer \"conv2d\"");
  const std::string place = "recipe.toml:14: layer \"conv2d\": ";
  CHECK(refusal_of([&] { read.get("name", 1); }) ==
        place + "\"name\" must be a whole number, but is text (\"adam\") | ");
  CHECK(refusal_of([&] { read.get("rate", 1); }) ==
        place + "\"rate\" must be a whole number, but is a number (0.5) | ");
  CHECK(refusal_of([&] { read.get("flag", 1.0); }) ==
        place + "\"flag\" must be a number, but is true or false (true) | ");
  CHECK(refusal_of([&] { read.get("count", false); }) ==
        place + "\"count\" must be true or false, but is a whole number (3) | ");
  CHECK(refusal_of([&] { read.get("kernel", "x"); }) ==
        place + "\"kernel\" must be text, but is a list ([3, 5]) | ");
  CHECK(refusal_of([&] { read.get("tags", std::vector<std::int64_t>{}); }) ==
        place + "\"tags\" must be a whole number or a list of them, but is a list ([\"a\", \"b\"]) | ");
  CHECK(refusal_of([&] { read.get("tags", std::vector<double>{}); }) ==
        place + "\"tags\" must be a number or a list of them, but is a list ([\"a\", \"b\"]) | ");
  CHECK(refusal_of([&] { read.table("count"); }) ==
        place + "\"count\" must be a table, but is a whole number (3) | ");
  CHECK(refusal_of([&] { read.tables("inner"); }) ==
        place + "\"inner\" must be a list of tables, but is a table ({ x = 1 }) | ");
  CHECK(refusal_of([&] { read.tables("kernel"); }) ==
        place + "\"kernel\" must be a table, but is a whole number (3) | ");
}

TEST_CASE("an unknown key is refused with the nearest known one") {
  const Settings settings{{"filters", 32}, {"kernal", 3}};
  SettingsReader read(settings, "layer \"conv2d\"");
  read.get("filters", 1);
  read.get("kernel", 1);
  CHECK(refusal_of([&] { read.finish(); }) ==
        "layer \"conv2d\": unknown key \"kernal\" (did you mean \"kernel\"?) | known keys: filters, kernel");
}

TEST_CASE("a value out of range is refused, and the message has the value") {
  const Settings settings{{"momentum", 1.5}};
  SettingsReader read(settings, "optimizer \"sgd\"");
  CHECK_NOTHROW(read.check("momentum", true, "below 2"));
  CHECK(refusal_of([&] { read.check("momentum", false, "at least 0 and below 1"); }) ==
        "optimizer \"sgd\": \"momentum\" must be at least 0 and below 1, but is 1.5 | ");
}

TEST_CASE("text means a table with a name, at the place of its parent") {
  Settings settings{{"optimizer", "adam"},
                    {"schedule", Settings{{"name", "step"}}},
                    {"layers", Value::Array{Settings{{"type", "relu"}}}}};
  settings.set_where("recipe.toml:3");
  SettingsReader read(settings, "train");
  CHECK(read.table("optimizer") == Settings{{"name", "adam"}});
  CHECK(read.table("optimizer").where() == "recipe.toml:3");
  CHECK(read.table("schedule").where() == "recipe.toml:3");
  CHECK(read.table("absent").where() == "recipe.toml:3");
  REQUIRE(read.tables("layers").size() == 1);
  CHECK(read.tables("layers")[0].where() == "recipe.toml:3");

  Settings own{{"name", "cosine"}};
  own.set_where("recipe.toml:9");
  settings.set("schedule", own);
  CHECK(SettingsReader(settings, "train").table("schedule").where() == "recipe.toml:9");
}

TEST_CASE("a value has the place of its text, or of the table around it") {
  Settings settings{{"epochs", 5}};
  settings.set_where("recipe.toml:3");
  settings.set("batch", 0, "recipe.toml:5");
  settings.set_path("optimizer.beta_1", 2, "--set optimizer.beta_1=2");
  CHECK(settings.place("epochs") == "recipe.toml:3");
  CHECK(settings.place("batch") == "recipe.toml:5");
  CHECK(settings.place("batch.inner") == "recipe.toml:5");
  CHECK(settings.place("optimizer.beta_1") == "--set optimizer.beta_1=2");
  SettingsReader read(settings, "train");
  CHECK(refusal_of([&] {
          read.get("batch", "all");
        }).starts_with("recipe.toml:5: train: \"batch\" must be text"));
  CHECK(refusal_of([&] { read.check("batch", false, "1"); }).starts_with("recipe.toml:5: "));
  CHECK(refusal_of([&] { read.get_count("epochs", 1, 6); }).starts_with("recipe.toml:3: "));
  CHECK(refusal_of([&] { read.at("batch", [] { throw Error("is odd"); }); }) == "recipe.toml:5: is odd | ");
  CHECK(refusal_of([&] { read.at("batch", [] { throw Error("recipe.toml:9: is odd"); }); }) ==
        "recipe.toml:9: is odd | ");
  Settings again = settings;
  again.set("batch", 0, "elsewhere");
  CHECK(again == settings);
}

TEST_CASE("settings are set by path, creating tables") {
  Settings settings{{"seed", 1}, {"train", Settings{{"epochs", 5}, {"optimizer", "adam"}}}};
  settings.set_path("seed", 2);
  settings.set_path("train.epochs", 9);
  settings.set_path("train.optimizer.beta_1", 0.8);
  settings.set_path("run.threads", 4);
  CHECK(settings == Settings{{"seed", 2},
                             {"train", Settings{{"epochs", 9},
                                                {"optimizer", Settings{{"name", "adam"}, {"beta_1", 0.8}}}}},
                             {"run", Settings{{"threads", 4}}}});
  CHECK(refusal_of([&] { settings.set_path("seed.x", 1); }) ==
        "\"seed\" is a whole number, not a table with keys | ");
  for (const char* path : {"", ".", "a.", ".a", "a..b"}) {
    CHECK(refusal_of([&] { settings.set_path(path, 1); }) ==
          "a key is empty | write a path like train.optimizer.name");
  }
}

TEST_CASE("values are written as TOML") {
  CHECK(Value(true).to_string() == "true");
  CHECK(Value(-3).to_string() == "-3");
  CHECK(Value(1.0).to_string() == "1.0");
  CHECK(Value(0.1).to_string() == "0.1");
  CHECK(Value(1e-7).to_string() == "1e-07");
  CHECK(Value(std::numeric_limits<double>::infinity()).to_string() == "inf");
  CHECK(Value(std::numeric_limits<double>::quiet_NaN()).to_string() == "nan");
  CHECK(Value("say \"hi\"\\\n\t\x01\x7f").to_string() == R"("say \"hi\"\\\n\t\u0001\u007f")");
  CHECK(Value(Value::Array{1, "a", Value::Array{}}).to_string() == "[1, \"a\", []]");
  CHECK(Value(Settings{{"name", "sgd"}, {"a b", 1}}).to_string() == "{ name = \"sgd\", \"a b\" = 1 }");
  CHECK(Value(Settings{}).to_string() == "{}");
}

TEST_CASE("settings are equal if entries and order are equal, whatever their places") {
  Settings a = example();
  Settings b = example();
  b.set_where("elsewhere");
  CHECK(a == b);
  b.set("count", 4);
  CHECK_FALSE(a == b);
  CHECK_FALSE(Settings{{"x", 1}} == Settings{{"x", 1.0}});
  CHECK_FALSE(Settings{{"x", 1}, {"y", 2}} == Settings{{"y", 2}, {"x", 1}});
}
