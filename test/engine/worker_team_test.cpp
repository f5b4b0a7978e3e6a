#include "convoke/engine/worker_team.hpp"

#include "support/catch.hpp"

using convoke::engine::WorkerTeam;

TEST_CASE("a team runs its work once on each worker") {
  for (const int workers : {1, 2, 4}) {
    WorkerTeam team(workers);
    std::atomic<int> sum = 0;
    for (int round = 0; round < 3; ++round) team.run([&](int worker) { sum += worker + 1; });
    CHECK(sum == 3 * workers * (workers + 1) / 2);
  }
}

TEST_CASE("each thread that a team starts is told first, the caller is not") {
  std::array<std::atomic<int>, 4> started{};
  WorkerTeam team(4, [&](int worker) { ++started[static_cast<std::size_t>(worker)]; });
  team.run([](int) {});
  for (int worker = 0; worker < 4; ++worker)
    CHECK(started[static_cast<std::size_t>(worker)] == (worker > 0 ? 1 : 0));
}

TEST_CASE("the exceptions of a run do not appear in the next run, however many workers throw") {
  WorkerTeam team(4);
  const auto fail = [](int worker) { throw std::runtime_error("worker " + std::to_string(worker)); };
  CHECK_THROWS_WITH(team.run(fail), "worker 0");
  CHECK_NOTHROW(team.run([](int) {}));
  CHECK_THROWS_WITH(team.run([&](int worker) {
    if (worker >= 2) fail(worker);
  }),
                    "worker 2");
  CHECK_NOTHROW(team.run([](int) {}));
}
