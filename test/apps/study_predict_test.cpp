#include "apps/place.hpp"
#include "support/catch.hpp"

// One step of a small network, so times are checked only for presence.
TEST_CASE("a step is predicted for any number of ranks, and checked against the existing ones") {
  const Place place;
  const auto alone = place.run("study predict recipe.toml --ranks 1,2,64 --seconds 0.02");
  CHECK(alone.code == 0);
  CHECK(alone.times("links between nodes: 20.0 us") == 1);  // neither measured nor given
  CHECK(alone.times("(assumed)") == 1);
  CHECK(alone.times("the measured step times vary by ") == 1);
  place
      .run(
          "study predict recipe.toml --ranks 2 --seconds 0.02 --latency 2us --bandwidth 100Gbit --weak --json")
      .ends(0)
      .once("\"latency_seconds\":2e-06")
      .once("\"scatter\":")
      .once("\"bytes_per_second\":12500000000.0");
  place.run("study predict recipe.toml --ranks 1 --seconds 0.02 --check", mpirun(2))
      .ends(0)
      .once("here, 2 ranks: predicted ");
}

TEST_CASE("a prediction follows the exchange of the recipe") {
  const Place place;
  const std::string predict = "study predict recipe.toml --weak --ranks 2 --seconds 0.02 ";
  CHECK(place.run(predict).times(" in every step\n") == 1);
  CHECK(place.run(predict + "--speed 4 --set train.reduction=fast --set train.wire=bf16")
            .times(" in every step, as bf16 between nodes\n") == 1);
  place.run(predict + "--set 'train.strategy={ name = \"local-sgd\", every = 3 }' --check", mpirun(2))
      .ends(0)
      .once(" after 3 steps\n")
      .once("here, 2 ranks: predicted ");
  CHECK(place.run(predict + "--set 'train.strategy=\"none\"'")
            .times("the ranks exchange nothing within an epoch") == 1);
}

TEST_CASE("one measurement serves several links") {
  const Place place;
  const std::string predict =
      "study predict recipe.toml --weak --ranks 2 --seconds 0.02 --json --latency 2us,3us ";
  const auto two = place.run(predict + "--bandwidth 10Gbit");
  CHECK(two.code == 0);
  CHECK(two.times("\"latency_seconds\":2e-06") == 1);
  CHECK(two.times("\"latency_seconds\":3e-06") == 1);
  CHECK(two.times("\"bytes_per_second\":1250000000.0") == 2);
  CHECK(place.run(predict + "--bandwidth 1Gbit,2Gbit,3Gbit")
            .times("--latency has 2 values, --bandwidth 3 values") == 1);
  place.run(predict + "--bandwidth 100").ends(2).shows("--bandwidth: Missing mandatory unit");
}

TEST_CASE("members that do not communicate, and a network of zero bandwidth, are not predicted") {
  const Place place;
  place.run("study predict recipe.toml --set train.mode=ensemble --set ensemble.members=2")
      .ends(1)
      .once("hint: predict a synchronous recipe, or add --set train.mode=sync");
  CHECK(place.run("study predict recipe.toml --bandwidth 0Gbit").code == 2);
  CHECK(place.run("study predict recipe.toml --ranks 0").code == 2);
}
