#include "convoke/metrics/json.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::metrics;

namespace {

std::string refused(const std::string& text) {
  return error_of([&] { settings_from_json(text, "model.h5: graph"); });
}

}  // namespace

TEST_CASE("settings are written as JSON in their order, on one line or indented") {
  const Settings settings{{"epoch", 3},
                          {"accuracy", 0.5},
                          {"whole", 1.0},
                          {"done", true},
                          {"name", "a \"b\"\n\x01"},
                          {"kernel", Value::Array{3, 5}},
                          {"test", Settings{{"z", 1}, {"a", Value::Array{Settings{{"x", 2}}}}}},
                          {"none", Settings{}},
                          {"nothing", Value::Array{}}};
  CHECK(to_json(settings) ==
        R"({"epoch":3,"accuracy":0.5,"whole":1.0,"done":true,"name":"a \"b\"\n\u0001","kernel":[3,5],)"
        R"("test":{"z":1,"a":[{"x":2}]},"none":{},"nothing":[]})");
  CHECK(to_json({}) == "{}");
  CHECK(to_json({{"a", 1}, {"b", Settings{{"c", Value::Array{1, 2}}}}}, true) == R"({
  "a": 1,
  "b": {
    "c": [
      1,
      2
    ]
  }
})");
}

TEST_CASE("settings read back from JSON are the same") {
  const Settings settings{
      {"zero", 0},
      {"least", std::numeric_limits<std::int64_t>::min()},
      {"most", std::numeric_limits<std::int64_t>::max()},
      {"third", 1.0 / 3},
      {"tiny", 5e-324},
      {"huge", 1.7976931348623157e308},
      {"whole", -2.0},
      {"epsilon", 1e-7},
      {"flag", false},
      {"text", "tab\t, Ödem, \"quotes\", back\\slash"},
      {"list", Value::Array{1, 2.5, "x", true, Value::Array{}}},
      {"layers", Value::Array{Settings{{"type", "conv2d"}, {"kernel", Value::Array{3, 3}}}, Settings{}}}};
  for (const bool pretty : {false, true}) {
    const Settings back = settings_from_json(to_json(settings, pretty), "here");
    CHECK(back == settings);
    CHECK(back.where() == "here");
  }
}

TEST_CASE(
    "what is not finite becomes null, null reads as NaN, and a number beyond 64 bits as the nearest double") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(to_json({{"a", std::nan("")}, {"b", inf}, {"c", Value::Array{-inf}}}) ==
        R"({"a":null,"b":null,"c":[null]})");
  const Settings back = settings_from_json(R"({"a": null})", "");
  CHECK(std::isnan(SettingsReader(back, "x").get("a", 0.0)));
  CHECK(*settings_from_json(R"({"a": 18446744073709551615})", "").find("a") == Value(18446744073709551616.0));
  CHECK(*settings_from_json(R"({"a": 100000000000000000000})", "").find("a") == Value(1e20));
}

TEST_CASE("bytes that are not UTF-8 do not make the JSON invalid") {
  const std::string json = to_json({{"file", "caf\xe9.png"}});
  CHECK(*settings_from_json(json, "").find("file") == Value("caf\xef\xbf\xbd.png"));
}

TEST_CASE("JSON that is not a table of settings is refused with its place") {
  for (const char* text : {"", "{", "{\"a\": }", "{\"a\": 1} x", "{\"a\": 1e999}", "\xff"}) {
    CHECK_THAT(refused(text), StartsWith("model.h5: graph: not valid JSON: ") && !Contains("exception"));
  }
  CHECK(refused("[1]") == "model.h5: graph: expected a JSON object, but found array");
  CHECK(refused("null") == "model.h5: graph: expected a JSON object, but found null");
}

TEST_CASE("JSON that is nested too deeply is refused") {
  const auto nested = [](std::size_t depth) {
    return "{\"a\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(refused(nested(60)).empty());
  CHECK(refused(nested(65)) == "model.h5: graph: JSON is nested deeper than 64 levels");
  CHECK(refused(nested(200000)) == "model.h5: graph: JSON is nested deeper than 64 levels");
}
