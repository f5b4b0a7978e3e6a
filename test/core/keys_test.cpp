#include "convoke/core/keys.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

namespace {

enum class Color { kRed, kBlue };
constexpr std::array<Named<Color>, 2> kColors{{{"red", Color::kRed}, {"blue", Color::kBlue}}};

struct Inner {
  float ema = 0;
};
struct Options {
  std::int64_t count = 2;
  int threads = 0;
  double rate = 0.5;
  Inner inner;
  bool on = true;
  std::string path = "x";
  Color color = Color::kBlue;
  std::array<double, 2> range{0.25, 0.75};
  std::vector<std::string> names;
};

constexpr std::array kKeys{
    key<&Options::count>({.name = "count", .range = {.least = 1}, .help = "how many"}),
    key<&Options::threads>(
        {.name = "threads", .range = {.largest = 8}, .word = "auto", .effect = Effect::kNone}),
    key<&Options::rate>({.name = "rate", .range = {.above = 0, .largest = 1}}),
    key<&Options::inner, &Inner::ema>({.name = "ema", .range = {.least = 0, .below = 1}}),
    key<&Options::on>({.name = "on"}),
    key<&Options::path>({.name = "path", .required = true, .help = "where"}),
    choice<kColors, &Options::color>({.name = "color", .noun = "color of the rainbow"}),
    key<&Options::range>({.name = "range", .range = {.least = 0}, .expected = "two shares"}),
    key<&Options::names>({.name = "names"}),
};

Options read(Settings settings) {
  if (settings.find("path") == nullptr) settings.set("path", "here");
  settings.set_where("file:3");
  SettingsReader reader(settings, "[x]");
  Options options;
  read_keys(kKeys, reader, options);
  reader.finish();
  return options;
}

std::string refusal(const Settings& settings) {
  return error_of([&] { read(settings); });
}

}  // namespace

TEST_CASE("a range has a text and holds only finite numbers") {
  CHECK(Range{}.text().empty());
  CHECK(Range{.least = 0, .below = 1}.text() == "at least 0 and below 1");
  CHECK(Range{.above = 0, .largest = 0.5}.text() == "above 0 and at most 0.5");
  CHECK(Range{.largest = 1 << 30}.text() == "at most 1073741824");
  constexpr Range kShare{.above = 0, .largest = 1};
  CHECK(kShare.contains(1));
  CHECK(kShare.contains(1e-9));
  CHECK_FALSE(kShare.contains(0));
  CHECK_FALSE(kShare.contains(1.001));
  CHECK_FALSE(Range{}.contains(Range::kInfinity));
  CHECK_FALSE(Range{}.contains(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("keys are read into their members and written from them") {
  const Settings written{{"count", 5},
                         {"threads", "auto"},
                         {"rate", 0.25},
                         {"ema", 0.5},
                         {"on", false},
                         {"path", "there"},
                         {"color", "red"},
                         {"range", Value::Array{0.0, 1.5}},
                         {"names", Value::Array{"a", "b"}}};
  const Options options = read(written);
  CHECK(options.count == 5);
  CHECK(options.inner.ema == 0.5F);
  CHECK(options.color == Color::kRed);
  CHECK(options.range == std::array<double, 2>{0, 1.5});
  CHECK(options.names == std::vector<std::string>{"a", "b"});
  Settings again;
  write_keys(kKeys, options, again);
  CHECK(again == written);
  CHECK(read({{"threads", 8}}).threads == 8);
  CHECK(read({}).rate == 0.5);
}

TEST_CASE("a wrong value is refused with the expected one, and the key's help as the hint") {
  CHECK(refusal({{"count", 0}}) == "file:3: [x]: \"count\" must be at least 1, but is 0");
  CHECK(hint_of([] { read({{"count", 0}}); }) == "count: how many");
  CHECK(refusal({{"count", 1.5}}) == "file:3: [x]: \"count\" must be a whole number, but is a number (1.5)");
  const std::string threads = "file:3: [x]: \"threads\" must be \"auto\" or a whole number of 1 to 8";
  CHECK(refusal({{"threads", 9}}) == threads + ", but is 9");
  CHECK(refusal({{"threads", 0}}) == threads + ", but is 0");
  CHECK(refusal({{"threads", "many"}}) == threads + ", but is \"many\"");
  CHECK(refusal({{"rate", Range::kInfinity}}) ==
        "file:3: [x]: \"rate\" must be above 0 and at most 1, but is inf");
  CHECK(refusal({{"color", "bluee"}}) ==
        "file:3: unknown color of the rainbow \"bluee\" (did you mean \"blue\"?)");
  CHECK_THAT(refusal({{"range", Value::Array{0.5, 0.25}}}), Contains("must be two shares"));
  CHECK(hint_of([] { read({{"path", ""}}); }) == "path: where");
  CHECK(refusal({{"coun", 3}}) == "file:3: [x]: unknown key \"coun\" (did you mean \"count\"?)");
}

TEST_CASE("keys are described with their defaults") {
  const std::vector<KeyDescription> keys = describe_keys(kKeys);
  REQUIRE(keys.size() == kKeys.size());
  CHECK(keys[0].type == "whole number");
  CHECK(keys[0].fallback == "2");
  CHECK(keys[0].range == "at least 1");
  CHECK(keys[1].fallback == "\"auto\"");
  CHECK(keys[1].effect == Effect::kNone);
  CHECK(keys[5].fallback.empty());
  CHECK(keys[6].fallback == "\"blue\"");
  CHECK(keys[6].range == "\"red\", \"blue\"");
  CHECK(keys[7].fallback == "[0.25, 0.75]");
}

namespace {

struct SentPart {
  std::uint64_t seed = 0;
  std::vector<float> scale;
};

struct Sent {
  std::string name = "none";
  bool stopped = false;
  int rank = 0;
  double loss = 0;
  std::vector<bool> given;
  std::vector<std::string> unused;
  SentPart inner;
};

constexpr std::array kSentFields{field<&Sent::name>("name"),
                                 field<&Sent::stopped>("stopped"),
                                 field<&Sent::rank>("rank"),
                                 field<&Sent::loss>("loss"),
                                 field<&Sent::given>("given"),
                                 field<&Sent::unused>("unused"),
                                 field<&Sent::inner, &SentPart::seed>("seed"),
                                 field<&Sent::inner, &SentPart::scale>("scale")};

}  // namespace

TEST_CASE("a struct becomes settings by its list of fields, and back") {
  const Sent outer{.name = "a",
                   .stopped = true,
                   .rank = -3,
                   .loss = std::numeric_limits<double>::infinity(),
                   .given = {true, false},
                   .unused = {"x", "y"},
                   .inner = {.seed = 1ULL << 63 | 5, .scale = {0.1F, -2}}};
  const Settings settings = to_settings(kSentFields, outer);
  CHECK(settings == Settings{{"name", "a"},
                             {"stopped", true},
                             {"rank", -3},
                             {"loss", std::numeric_limits<double>::infinity()},
                             {"given", Value::Array{1, 0}},
                             {"unused", Value::Array{"x", "y"}},
                             {"seed", std::numeric_limits<std::int64_t>::min() + 5},
                             {"scale", Value::Array{static_cast<double>(0.1F), -2.0}}});
  const Sent again = from_settings(kSentFields, settings, "outer");
  CHECK(again.name == "a");
  CHECK(again.stopped);
  CHECK(again.rank == -3);
  CHECK(std::isinf(again.loss));
  CHECK(again.given == outer.given);
  CHECK(again.unused == outer.unused);
  CHECK(again.inner.seed == outer.inner.seed);
  CHECK(again.inner.scale == outer.inner.scale);
}

TEST_CASE("a field that is missing keeps its default, and one of another type is an error") {
  const Sent outer = from_settings(kSentFields, {{"rank", 2}, {"later", 1}}, "outer");
  CHECK(outer.name == "none");
  CHECK(outer.rank == 2);
  CHECK_THAT(error_of([] {
               from_settings(kSentFields, {{"rank", "two"}}, "outer");
             }),
             Contains("outer: \"rank\" must be a whole number, but is text (\"two\")"));
}
