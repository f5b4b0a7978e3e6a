#include "convoke/os/silent_peers.hpp"

#include "support/catch.hpp"

// Cut links are tested with hosts: test/multihost/links.sh.
TEST_CASE("a process without connections to other hosts has no silent peers") {
  CHECK(convoke::os::silent_peers(0).empty());
}
