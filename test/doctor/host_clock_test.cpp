#include "convoke/doctor/host_clock.hpp"

#include "doctor/told.hpp"

namespace doctor = convoke::doctor;

TEST_CASE("clocks that differ by a second give a warning, smaller differences a note or an ok") {
  const auto found =
      doctor::check_clock_offsets({{"beta", 2.5, 1e-4}, {"gamma", -0.3, 1e-4}, {"delta", 0.002, 1e-4}});
  REQUIRE(found.size() == 2);
  CHECK_THAT(told(found[0]), StartsWith("warning: beta: its clock is 2.5 s ahead of that of rank 0"));
  CHECK_THAT(told(found[1]), StartsWith("note: gamma: its clock is 0.3 s behind that of rank 0"));
  // A round trip of one second is too long to detect half a second.
  CHECK_THAT(told(doctor::check_clock_offsets({{"beta", 0.5, 0.5}})), StartsWith("ok: "));
  CHECK(doctor::check_clock_offsets({}).empty());  // one host
}
