#include "convoke/doctor/host_clock.hpp"

#include "support/catch.hpp"

namespace doctor = convoke::doctor;
using doctor::Severity;

TEST_CASE("clocks that differ by a second give a warning, smaller differences a note or an ok") {
  const auto found =
      doctor::check_clock_offsets({{"beta", 2.5, 1e-4}, {"gamma", -0.3, 1e-4}, {"delta", 0.002, 1e-4}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK(found[0].evidence.find("beta: its clock is 2.5 s ahead of that of rank 0") == 0);
  CHECK(found[1].severity == Severity::kNote);
  CHECK(found[1].evidence.find("gamma: its clock is 0.3 s behind that of rank 0") == 0);
  // A round trip of one second is too long to detect half a second.
  const auto unsure = doctor::check_clock_offsets({{"beta", 0.5, 0.5}});
  REQUIRE(unsure.size() == 1);
  CHECK(unsure[0].severity == Severity::kOk);
  CHECK(doctor::check_clock_offsets({}).empty());  // one host
}
