#include "convoke/run/other_programs.hpp"

#include "support/catch.hpp"

using convoke::run::share_of_others;

TEST_CASE("other programs took what was busy and not the job's, and had no spare core") {
  // Two cores, ten seconds, both busy: the job computed for 16 s, others for 4 s.
  CHECK(share_of_others(20, 16, 2, 2, 10) == Approx(0.2));
  CHECK(share_of_others(16, 16, 2, 2, 10) == 0);
  CHECK(share_of_others(15.9, 16, 2, 2, 10) == 0);  // the system counts in hundredths
  // Two of eight cores: others had six for themselves.
  CHECK(share_of_others(80, 20, 8, 2, 10) == 0);
  CHECK(share_of_others(80, 15, 8, 2, 10) == Approx(0.25));
  // More workers than cores.
  CHECK(share_of_others(20, 10, 2, 2, 10) == Approx(0.5));
}
