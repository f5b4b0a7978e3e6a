// convoke verify: where two runs begin to differ.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/shell.hpp"

TEST_CASE("verify finds runs on other ranks equal, and the first step of a run with another seed") {
  const Place place;
  const std::string all = "--set run.keep_checkpoints=10 --set 'run.checkpoint_every=\"1 epoch\"'";
  REQUIRE(place.train("one", all).code == 0);
  REQUIRE(place.train("two", all, 2).code == 0);
  REQUIRE(place.train("seed", all + " --set seed=4").code == 0);

  const Outcome equal = place.run("verify one two");
  CAPTURE(equal.text);
  CHECK(equal.code == 0);
  CHECK(equal.says("equal      checkpoints/epoch-0001.h5, step "));
  CHECK(equal.says("equal      model.h5: 8 arrays, "));
  CHECK(!equal.says("different"));

  const Outcome different = place.run("verify one seed");
  CAPTURE(different.text);
  CHECK(different.code == 1);
  CHECK(different.says("different  checkpoints/epoch-0001.h5, step "));
  CHECK(different.times("\n  /parameters/conv2d_1.weight[0, 0, 0, 0]: ") == 1);
  CHECK(different.times("\n  /fingerprint seed: 3 and 4") == 1);
  CHECK(place.run("verify one/model.h5 two/model.h5").code == 0);
  CHECK(place.run("verify one/model.h5 seed/model.h5").code == 1);
}

TEST_CASE("verify ends with 2 if it cannot compare") {
  const Place place;
  REQUIRE(place.train("one").code == 0);
  for (const char* wrong : {"verify one none", "verify one one/model.h5", "verify one/model.h5 data.h5",
                            "verify one/model.h5 recipe.toml", "verify one"}) {
    CAPTURE(wrong);
    const Outcome outcome = place.run(wrong);
    CAPTURE(outcome.text);
    CHECK(outcome.code == 2);
    CHECK(outcome.times("error: ") == 1);
  }
}
