// checkpoints/best.h5 when it cannot be written.
#include "apps/failing_renames.hpp"
#include "apps/place.hpp"
#include "support/catch.hpp"

TEST_CASE("a full disk while best.h5 is written is reported; the old file stays until there is space") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const std::string before = bytes_of(place / "run/checkpoints/best.h5");
  REQUIRE(before.size() > 1000);
  fail_next_rename_to(place / "run/checkpoints/best.h5");
  const FailingRenames preloaded;
  const Outcome outcome = place.train("run", "--resume", 2);  // the second epoch is better
  CAPTURE(outcome.text);
  CHECK(outcome.code == 0);
  CHECK(outcome.times("run/checkpoints/best.h5: cannot be written") == 1);
  CHECK(outcome.says("No space left on device; training goes on"));
  CHECK(bytes_of(place / "run/checkpoints/best.h5") != before);  // written as soon as there was space again
  REQUIRE(place.train("whole").code == 0);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}
