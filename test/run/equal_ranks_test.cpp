#include "convoke/run/equal_ranks.hpp"

#include "convoke/os/environment.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/world.hpp"

using namespace convoke;

TEST_CASE("equal facts pass, and so do the programs of this test") {
  CHECK(error_of([] {
          run::require_equal(world(), {{"seed", 3}, {"train", Settings{{"batch", 32}}}}, "");
        }).empty());
  CHECK(error_of([] { run::require_equal_programs(world()); }).empty());
  CHECK(error_of([] { run::require_equal_arithmetic(world()); }).empty());
}

TEST_CASE("all ranks name the first rank that differs from rank 0, its host, the fact and both values") {
  const int rank = world().rank();
  Settings facts{{"seed", 3}, {"train", Settings{{"batch", rank == 0 ? 32 : 64}}}};
  if (rank > 1) facts.set("seed", 4);
  const auto compare = [&] { run::require_equal(world(), facts, "start one program"); };
  if (world().size() == 1) {
    CHECK(error_of(compare).empty());
    return;
  }
  const std::string host = os::host_name();
  CHECK(error_of(compare) ==
        fmt::format("train.batch differs: 64 on rank 1 (host {}), 32 on rank 0 (host {})", host, host));
  CHECK(hint_of(compare) == "start one program");
}

TEST_CASE("a fact that only some ranks have differs") {
  if (world().size() == 1) return;
  Settings facts{{"seed", 3}};
  if (world().rank() == 0) facts.set("name", "a");
  CHECK(error_of([&] {
          run::require_equal(world(), facts, "");
        }).starts_with("name differs: absent on rank 1 "));
}
