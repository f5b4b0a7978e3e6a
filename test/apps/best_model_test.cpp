// checkpoints/best.h5 where it cannot be written.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/full_disk.hpp"

TEST_CASE("a full disk while best.h5 is written is an error that names it; what was there stays") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const std::string before = bytes_of(place / "run/checkpoints/best.h5");
  REQUIRE(before.size() > 1000);
  make_full(place / "run/checkpoints/best.h5.tmp");
  const Outcome outcome = place.train("run", "--resume", 2);  // the second epoch is better
  CAPTURE(outcome.text);
  CHECK(outcome.code == 1);
  CHECK(outcome.times("error: run/checkpoints/best.h5: cannot be written") == 1);
  CHECK(outcome.says("No space left on device"));
  CHECK(outcome.says("hint: the file of that name is still as it was; is the disk full?"));
  CHECK(bytes_of(place / "run/checkpoints/best.h5") == before);
  CHECK(fs::exists(place / "run/checkpoints/epoch-0001.h5"));

  REQUIRE(place.train("run", "--resume", 2).code == 0);  // the link is gone: there is room again
  CHECK(bytes_of(place / "run/checkpoints/best.h5") != before);
  REQUIRE(place.train("whole").code == 0);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}
