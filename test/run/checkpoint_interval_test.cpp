#include "convoke/run/checkpoint_interval.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using convoke::run::CheckpointInterval;
using convoke::run::seconds_from;

TEST_CASE("intervals are epochs, steps or time") {
  CHECK(CheckpointInterval::from("3") == CheckpointInterval{.epochs = 3});
  CHECK(CheckpointInterval::from("1 epoch") == CheckpointInterval{.epochs = 1});
  CHECK(CheckpointInterval::from("0") == CheckpointInterval{.epochs = 0});
  CHECK(CheckpointInterval::from("500 steps") == CheckpointInterval{.epochs = 0, .steps = 500});
  CHECK(CheckpointInterval::from("90s") == CheckpointInterval{.epochs = 0, .steps = 0, .seconds = 90});
  CHECK(CheckpointInterval::from("1.5 h") == CheckpointInterval{.epochs = 0, .steps = 0, .seconds = 5400});
  for (const char* text : {"3", "500 steps", "90 s", "0.5 s", "0"}) {
    CHECK(CheckpointInterval::from(text).to_string() == text);
  }
}

TEST_CASE("a text that is not an interval is refused, with examples") {
  for (const char* text : {"", "often", "-1", "2.5", "2.5 steps", "10 furlongs", "nan s", "1e99 steps"}) {
    INFO(text);
    const std::string expected = std::string("\"") + text + "\" is not an interval";
    CHECK(error_of([&] { CheckpointInterval::from(text); }) == expected);
  }
}

TEST_CASE("times have units; a plain number is seconds") {
  CHECK(seconds_from("120") == 120);
  CHECK(seconds_from("2 min") == 120);
  CHECK(error_of([] { seconds_from("2 steps"); }) == "\"2 steps\" is not a time");
}
