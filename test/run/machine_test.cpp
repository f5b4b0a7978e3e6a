#include "convoke/run/machine.hpp"

#include "support/catch.hpp"

using convoke::run::Machine;
using convoke::run::machine_of;
using convoke::run::memory_kind_in;
using convoke::run::Placement;
using convoke::run::share_of_others;

namespace {

Placement on(int node, std::vector<int> cores, double quota = 0) {
  return {node == 0 ? "alpha" : "beta", node, std::move(cores), quota};
}

}  // namespace

TEST_CASE("ranks with separate bindings have all their cores") {
  const std::vector<Placement> placements{on(0, {0, 1, 2}), on(0, {3})};
  CHECK(machine_of(placements, 0).cores == 3);
  CHECK(machine_of(placements, 1).cores == 1);
}

TEST_CASE("ranks whose bindings overlap share the union") {
  // Without any binding.
  CHECK(machine_of({on(0, {0, 1, 2, 3}), on(0, {0, 1, 2, 3})}, 1).cores == 2);
  // 0 and 1 overlap, 1 and 2 overlap: three ranks on six cores; rank 3 is separate.
  const std::vector<Placement> chain{on(0, {0, 1, 2}), on(0, {2, 3}), on(0, {3, 4, 5}), on(0, {6, 7})};
  CHECK(machine_of(chain, 0).cores == 2);
  CHECK(machine_of(chain, 1).cores == 2);
  CHECK(machine_of(chain, 2).cores == 2);
  CHECK(machine_of(chain, 3).cores == 2);
  // At least one core.
  CHECK(machine_of({on(0, {0}), on(0, {0}), on(0, {0})}, 2).cores == 1);
  // The same core numbers on another node are different cores.
  const std::vector<Placement> two_nodes{on(0, {0, 1}), on(1, {0, 1})};
  CHECK(machine_of(two_nodes, 0).cores == 2);
  CHECK(machine_of(two_nodes, 1).cores == 2);
}

TEST_CASE("a rank knows its place on its node") {
  const std::vector<Placement> placements{on(0, {0}), on(1, {0}), on(0, {1}), on(1, {1}), on(1, {2})};
  const Machine machine = machine_of(placements, 4);
  CHECK(machine.host == "beta");
  CHECK(machine.rank == 4);
  CHECK(machine.ranks == 5);
  CHECK(machine.nodes == 2);
  CHECK(machine.local_rank == 2);
  CHECK(machine.local_ranks == 3);
  CHECK(machine.threads_for(0) == 1);
  CHECK(machine.threads_for(3) == 3);
}

TEST_CASE("a quota is shared by the ranks of the node") {
  CHECK(machine_of({on(0, {0, 1, 2, 3}, 2.5)}, 0).cores == 2);
  CHECK(machine_of({on(0, {0, 1}, 2.5), on(0, {2, 3}, 2.5)}, 0).cores == 1);
  CHECK(machine_of({on(0, {0, 1, 2, 3}, 0.5)}, 0).cores == 1);
}

TEST_CASE("threads have separate cores, or share the existing ones") {
  const auto count = [](std::vector<Placement> placements, int threads) {
    const Machine machine = machine_of(std::move(placements), 0);
    return std::pair(machine.all_threads(threads), machine.cores_of_all(threads));
  };
  const std::vector<int> two{0, 1}, four{0, 1, 2, 3};
  CHECK(count({on(0, four)}, 1) == std::pair(1, 1));  // the other cores stay free
  CHECK(count({on(0, four), on(0, four)}, 0) == std::pair(4, 4));
  CHECK(count(std::vector(4, on(0, two)), 1) == std::pair(4, 2));
  CHECK(count(std::vector(4, on(0, two)), 0) == std::pair(4, 2));
  // Two nodes: on the second, rank 3 has too few cores while rank 4 does not need one of its cores.
  CHECK(count({on(0, two), on(1, {0}), on(1, two)}, 2) == std::pair(6, 4));
  CHECK(count({on(0, {0}), on(0, {0}), on(0, {1, 2, 3})}, 1) == std::pair(3, 2));
  // A control group grants less than the binding has, but at least one core.
  CHECK(count({on(0, four, 2.5), on(0, four, 2.5)}, 2) == std::pair(4, 2));
  CHECK(count({on(0, four, 0.5)}, 2) == std::pair(2, 1));
}

TEST_CASE("ranks that share cores are distinguished from those that do not") {
  const std::vector<Placement> placements{on(0, {0}), on(0, {2, 3}), on(0, {0, 1}), on(1, {0})};
  const auto sharings = convoke::run::sharings(placements, 0);
  REQUIRE(sharings.size() == 2);
  CHECK(sharings[0].ranks == std::vector<int>{1});
  CHECK(sharings[0].cores == std::vector<int>{2, 3});
  CHECK(sharings[1].ranks == std::vector<int>{0, 2});
  CHECK(sharings[1].cores == std::vector<int>{0, 1});
  const Machine machine = machine_of(placements, 3);
  CHECK(machine.threads_of(1, 0) == 2);
  CHECK(machine.threads_of(2, 0) == 1);
  CHECK(machine.threads_of(2, 5) == 5);
}

TEST_CASE("the text of the placement names ranks with their cores, and cuts long lists") {
  using convoke::run::placement_text;
  CHECK(placement_text(machine_of({on(0, {0, 1, 2, 3})}, 0)) == "alpha: rank 0 on cores 0-3");
  CHECK(placement_text(machine_of({on(0, {0, 1}), on(1, {4}), on(0, {0, 1}), on(1, {5})}, 0)) ==
        "alpha: ranks 0, 2 on cores 0-1; beta: rank 1 on core 4, rank 3 on core 5");
  std::vector<Placement> many;
  for (int rank = 0; rank < 64; ++rank)
    many.push_back({"node" + std::to_string(rank / 16), rank / 16 * 16, {rank % 16}});
  CHECK(placement_text(machine_of(many, 0)) ==
        "node0: rank 0 on core 0, rank 1 on core 1, rank 2 on core 2, rank 3 on core 3 and 12 more; "
        "node1: rank 16 on core 0, rank 17 on core 1, rank 18 on core 2, rank 19 on core 3 and 12 more; 2 "
        "hosts more");
}

TEST_CASE("the threads and cores of thousands of ranks are the sums of those of each rank") {
  constexpr int kNodes = 64, kLocal = 128;
  std::vector<Placement> placements;
  for (int rank = 0; rank < kNodes * kLocal; ++rank) {
    Placement placement = on(rank / kLocal * kLocal, {});
    for (int core = 0; core < kLocal; ++core) placement.cores.push_back(core);  // unbound
    placements.push_back(std::move(placement));
  }
  const Machine machine = machine_of(std::move(placements), 5000);
  CHECK(machine.cores == 1);
  CHECK(machine.threads_of(kNodes * kLocal - 1, 0) == 1);
  CHECK(machine.all_threads(0) == kNodes * kLocal);
  CHECK(machine.cores_of_all(2) == kNodes * kLocal);
}

namespace {

// Returns an SMBIOS structure: a fixed part of `length` bytes with `kind` at the position of memory devices,
// and a string.
std::vector<std::uint8_t> structure(std::uint8_t type, std::uint8_t length, std::uint8_t kind) {
  std::vector<std::uint8_t> bytes(length, 0xEE);
  bytes[0] = type, bytes[1] = length;
  if (length > 0x12) bytes[0x12] = kind;
  bytes.insert(bytes.end(), {'D', 'I', 'M', 'M', 0, 0});
  return bytes;
}

std::vector<std::uint8_t> operator+(std::vector<std::uint8_t> a, const std::vector<std::uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("the kind of memory is read from the firmware's table, skipping other structures") {
  const auto bios = structure(0, 24, 0x1A), empty_slot = structure(17, 40, 0x02), end = structure(127, 4, 0);
  CHECK(memory_kind_in(bios + empty_slot + structure(17, 40, 0x22) + end) == "DDR5");
  CHECK(memory_kind_in(structure(17, 21, 0x1A)) == "DDR4");
  CHECK(memory_kind_in(bios + end + structure(17, 40, 0x22)).empty());
  CHECK(memory_kind_in(structure(17, 18, 0x22)).empty());  // too short for a kind
}

TEST_CASE("a truncated or damaged table is not read beyond its end") {
  const auto whole = structure(0, 24, 0) + structure(17, 40, 0x22);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK((memory_kind_in(cut).empty() || length >= 24 + 6 + 40));
  }
  std::vector<std::uint8_t> damaged = whole;
  damaged[1] = 0;
  CHECK(memory_kind_in(damaged).empty());
}

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
