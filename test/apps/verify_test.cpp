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

  const Outcome equal = place.run("verify one two").ends(0);
  CAPTURE(equal.text);
  equal.shows("equal      checkpoints/epoch-0001.h5, step ").shows("equal      model.h5: 8 arrays, ");
  CHECK(!equal.says("different"));

  place.run("verify one seed")
      .fails("\n  /parameters/conv2d_1.weight[0, 0, 0, 0]: ")
      .shows("different  checkpoints/epoch-0001.h5, step ")
      .once("\n  /fingerprint seed: 3 and 4");
  CHECK(place.run("verify one/model.h5 two/model.h5").code == 0);
  CHECK(place.run("verify one/model.h5 seed/model.h5").code == 1);
}

TEST_CASE("verify ends with 2 if it cannot compare") {
  const Place place;
  REQUIRE(place.train("one").code == 0);
  for (const char* wrong : {"verify one none", "verify one one/model.h5", "verify one/model.h5 data.h5",
                            "verify one/model.h5 recipe.toml", "verify one"}) {
    CAPTURE(wrong);
    place.run(wrong).ends(2).once("error: ");
  }
}
