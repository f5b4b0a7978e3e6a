#include "convoke/engine/node_share.hpp"

#include "support/catch.hpp"

using namespace convoke;
using engine::NodeShare;

TEST_CASE("the leaders of a node have slices that cover the sums, the other ranks have none") {
  std::size_t end = 0;
  for (int place = 0; place < 3; ++place) {
    const engine::Range slice = NodeShare(1003, place, 3).slice();
    CHECK(slice.begin == end);
    end = slice.end;
  }
  CHECK(end == 1003);
  CHECK(NodeShare(1003, 3, 3).slice().size() == 0);
  CHECK(NodeShare(1003, 3, 3).done());
}

TEST_CASE("a leader adds each element of its slice once, when all workers have it") {
  NodeShare share(320, 1, 2);  // elements 160 to 320
  for (int step = 0; step < 2; ++step) {
    share.begin_step();
    CHECK(share.take(100).size() == 0);
    CHECK(share.take(200).begin == 160);
    CHECK(share.ready() == 40);
    CHECK(share.take(200).size() == 0);
    CHECK(!share.done());
    const engine::Range rest = share.take(400);
    CHECK(rest.begin == 200);
    CHECK(rest.end == 320);
    CHECK(share.done());
  }
}

TEST_CASE("the part of a slice that may be rounded") {
  CHECK(NodeShare(320, 0, 2).bf16_elements(200) == 160);
  CHECK(NodeShare(320, 1, 2).bf16_elements(200) == 40);
  CHECK(NodeShare(320, 1, 2).bf16_elements(100) == 0);
}
