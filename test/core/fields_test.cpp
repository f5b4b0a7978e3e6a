#include "convoke/core/fields.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

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
