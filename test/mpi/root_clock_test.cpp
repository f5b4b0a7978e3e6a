#include "convoke/mpi/root_clock.hpp"

#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke::mpi;

TEST_CASE("ranks of one host find that they have one clock") {
  const Communicator all = world();
  const ClockReading reading = read_root_clock(all);
  CHECK(std::llabs(reading.offset) <= reading.uncertainty + 1);
  CHECK(reading.uncertainty >= 0);
  CHECK(reading.uncertainty < 1'000'000'000);
}

TEST_CASE("a message is received, by rank 0's clock, after it was sent") {
  const Communicator all = world();
  const ClockReading first = read_root_clock(all);
  const RootClock clock(first, read_root_clock(all));
  std::int64_t sent = clock.at_root(first.here);
  all.broadcast(std::as_writable_bytes(std::span(&sent, 1)));
  CHECK(clock.at_root(read_root_clock(all).here) >= sent);
}

TEST_CASE("a clock of another rate is converted along a line") {
  // This clock starts 500 behind and gains 10 in 1,000.
  const RootClock clock({1000, 500, 1}, {2000, 490, 1});
  CHECK(clock.at_root(1000) == 1500);
  CHECK(clock.at_root(2000) == 2490);
  CHECK(clock.at_root(1500) == 1995);
  CHECK(clock.at_root(3000) == 3480);
  CHECK(RootClock({7, 3, 0}, {7, 3, 0}).at_root(10) == 13);
}
