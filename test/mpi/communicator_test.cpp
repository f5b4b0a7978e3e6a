#include "convoke/mpi/communicator.hpp"

#include <mpi.h>

#include "mpi/state.hpp"
#include "support/catch.hpp"
#include "support/replaced_calls.hpp"
#include "support/world.hpp"

using namespace convoke;
using mpi::Communicator;

namespace {

/// Returns 1 + 2 + ... + n.
std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }

}  // namespace

TEST_CASE("a communicator knows its rank and size") {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(world().rank() == rank);
  CHECK(world().size() == size);
  CHECK(world().root() == (rank == 0));
  CHECK(MPI_Comm_f2c(world().fortran_handle()) == MPI_COMM_WORLD);
}

TEST_CASE("sum, max and min reduce in place, the same on every rank") {
  const int n = world().size();
  const int r = world().rank();
  const std::size_t piece = GENERATE(std::size_t{1} << 30, std::size_t{1}, std::size_t{2}, std::size_t{3});
  const replaced::InFront pieces(mpi::piece_elements(), piece);

  std::vector<float> floats{static_cast<float>(r + 1), 0.5F, static_cast<float>(-r)};
  world().sum(std::span<float>(floats));
  CHECK(floats[0] == static_cast<float>(triangle(n)));
  CHECK(floats[1] == 0.5F * static_cast<float>(n));
  CHECK(floats[2] == static_cast<float>(-triangle(n - 1)));

  std::vector<double> doubles{r + 1.0, 1e-300};
  world().sum(std::span<double>(doubles));
  CHECK(doubles[0] == static_cast<double>(triangle(n)));
  CHECK(doubles[1] == Approx(n * 1e-300));

  // Larger than doubles can hold exactly: 2^60 + rank.
  std::vector<std::int64_t> integers{(std::int64_t{1} << 60) + r, -1, r, 7};
  world().sum(std::span<std::int64_t>(integers));
  CHECK(integers ==
        std::vector<std::int64_t>{n * (std::int64_t{1} << 60) + triangle(n - 1), -n, triangle(n - 1), 7 * n});

  std::vector<double> highest{static_cast<double>(r), -static_cast<double>(r), 4.0};
  world().max(highest);
  CHECK(highest == std::vector<double>{n - 1.0, 0.0, 4.0});
  std::vector<double> lowest{static_cast<double>(r), -static_cast<double>(r), 4.0};
  world().min(lowest);
  CHECK(lowest == std::vector<double>{0.0, 1.0 - n, 4.0});
}

TEST_CASE("an empty span is skipped") {
  world().sum(std::span<float>());
  world().sum(std::span<std::int64_t>());
  world().max(std::span<double>());
  world().broadcast(std::span<std::byte>());
  mpi::Request request = world().start_sum(std::span<float>());
  CHECK(request.test());
  CHECK(world().broadcast(world().root() ? std::string() : std::string("not mine")).empty());
}

TEST_CASE("a broadcast from any rank arrives complete, in one piece or several") {
  const std::size_t piece = GENERATE(std::size_t{1} << 30, std::size_t{7});
  const replaced::InFront pieces(mpi::piece_elements(), piece);
  for (int root = 0; root < world().size(); ++root) {
    std::vector<int> values(100, -1);
    if (world().rank() == root) std::iota(values.begin(), values.end(), root);
    world().broadcast(std::as_writable_bytes(std::span<int>(values)), root);
    std::vector<int> expected(100);
    std::iota(expected.begin(), expected.end(), root);
    CHECK(values == expected);

    const std::string text =
        world().rank() == root ? "recipe of rank " + std::to_string(root) : "something longer";
    CHECK(world().broadcast(text, root) == "recipe of rank " + std::to_string(root));
  }
}

TEST_CASE("gather brings messages of different sizes to the root, by rank") {
  const std::size_t piece = GENERATE(std::size_t{1} << 30, std::size_t{2});
  const replaced::InFront pieces(mpi::piece_elements(), piece);
  for (int root = 0; root < world().size(); ++root) {
    // Rank r sends r letters, so rank 0 sends none.
    const std::string mine(static_cast<std::size_t>(world().rank()), static_cast<char>('a' + world().rank()));
    const std::vector<std::string> texts = world().gather(mine, root);
    if (world().rank() != root) {
      CHECK(texts.empty());
      continue;
    }
    CHECK(texts.size() == static_cast<std::size_t>(world().size()));
    for (std::size_t r = 0; r < texts.size(); ++r)
      CHECK(texts[r] == std::string(r, static_cast<char>('a' + r)));
  }
}

TEST_CASE("gather does not change bytes") {
  const std::vector<float> mine{static_cast<float>(world().rank()), -0.0F,
                                std::numeric_limits<float>::infinity()};
  const auto all = world().gather(std::as_bytes(std::span(mine)));
  CHECK(all.size() == static_cast<std::size_t>(world().root() ? world().size() : 0));
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::vector<float> expected{static_cast<float>(r), -0.0F, std::numeric_limits<float>::infinity()};
    const auto bytes = std::as_bytes(std::span<const float>(expected));
    CHECK(std::vector<std::byte>(bytes.begin(), bytes.end()) == all[r]);
  }
}

TEST_CASE("messages go round a ring, in one piece or several") {
  const std::size_t piece = GENERATE(std::size_t{1} << 30, std::size_t{5});
  const replaced::InFront pieces(mpi::piece_elements(), piece);
  const int n = world().size();
  const int r = world().rank();
  std::vector<std::byte> out(33, static_cast<std::byte>(r + 1));
  std::vector<std::byte> in(33);
  // Rank 0 sends first and the others receive first, so no two wait for each other.
  if (n == 1) return;
  if (r == 0) world().send(out, 1, mpi::Tag::kLink);
  world().receive(in, (r + n - 1) % n, mpi::Tag::kLink);
  if (r != 0) world().send(out, (r + 1) % n, mpi::Tag::kLink);
  CHECK(in == std::vector<std::byte>(33, static_cast<std::byte>((r + n - 1) % n + 1)));
}

TEST_CASE("split makes groups that reduce among themselves") {
  const int n = world().size();
  const int r = world().rank();
  const int color = r == 0 ? 0 : 1;  // {0} and the rest, in reverse order
  const Communicator group = world().split(color, -r);
  CHECK(group.size() == (color == 0 ? 1 : n - 1));
  CHECK(group.rank() == (color == 0 ? 0 : n - 1 - r));
  std::vector<std::int64_t> ranks{r};
  group.sum(std::span<std::int64_t>(ranks));
  CHECK(ranks[0] == (color == 0 ? 0 : triangle(n - 1)));

  // A copy keeps the group alive after the first object is destroyed.
  Communicator copy = group;
  {
    const Communicator nested = group.split(0, group.rank()), other = nested;
    copy = other;
  }
  std::vector<double> ones{1.0};
  copy.sum(std::span<double>(ones));
  CHECK(ones[0] == group.size());
}

TEST_CASE("the ranks of one machine share a node, in their order") {
  const Communicator node = world().split_node();
  CHECK(node.size() == world().size());
  CHECK(node.rank() == world().rank());
}

TEST_CASE("no rank passes a barrier before the last one arrives") {
  // Every rank sends a message to rank 0 before the barrier, so after it no message can be missing.
  if (!world().root()) {
    MPI_Request announced = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &announced);
    world().barrier();
    MPI_Wait(&announced, MPI_STATUS_IGNORE);
    return;
  }
  world().barrier();
  for (int from = 1; from < world().size(); ++from) {
    int there = 0;
    for (int attempt = 0; attempt < 1000 && !there; ++attempt)
      MPI_Iprobe(from, 5, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    CHECK(there != 0);
    MPI_Recv(nullptr, 0, MPI_BYTE, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

TEST_CASE("a communicator is freed with its last copy, but after an exception only when all ranks say so") {
  const int& freed = replaced::counts.comm_free = 0;
  {
    const Communicator group = world().split(0, 0);
    const Communicator copy = group;
    CHECK(freed == 0);
  }
  CHECK(freed == 1);
  // Freeing is collective, and the other ranks may be in other calls.
  try {
    const Communicator group = world().split(0, 0);
    throw std::runtime_error("this rank fails");
  } catch (const std::runtime_error&) {
    CHECK(freed == 1);
  }
  Communicator::free_abandoned();
  CHECK(freed == 2);
  Communicator::free_abandoned();
  CHECK(freed == 2);
}
