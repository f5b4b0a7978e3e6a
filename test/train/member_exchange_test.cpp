#include "convoke/train/member_exchange.hpp"

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// Members that are sent between ranks, one at a time.

using namespace convoke;
using namespace convoke::train;

namespace {

constexpr std::size_t kParameters = 1000;

std::vector<float> parameters_of(std::int64_t member) {
  std::vector<float> values(kParameters);
  for (std::size_t i = 0; i < kParameters; ++i)
    values[i] = static_cast<float>(member) + 0.001F * static_cast<float>(i);
  return values;
}

/// Seven members, each on one of the ranks; every second one is kept in a file, and member 3 has failed.
struct Scattered {
  explicit Scattered(const mpi::Communicator& world, const TemporaryFolder& folder) {
    const Groups groups{7, world.size(), world.rank(), world.split(world.rank(), 0)};
    for (std::int64_t index = 6 - world.rank(); index >= 0; index -= world.size()) {
      TrainedMember& member = mine.emplace_back();
      member.model.index = index;
      member.model.validation_accuracy = 0.125 * static_cast<double>(index);
      if (index == 3) {
        member.failure = "it failed";
        continue;
      }
      member.model.parameters = parameters_of(index);
      if (index % 2 == 0) {
        member.store(folder.path());
        CHECK(member.model.parameters.capacity() == 0);
      }
    }
    all = list_members(mine, groups, world);
    for (const TrainedMember& member : all) {
      if (member.failure.empty()) voters.push_back(&member);
    }
  }
  std::vector<TrainedMember> mine, all;
  std::vector<const TrainedMember*> voters;
};

}  // namespace

TEST_CASE("all ranks know all members; their parameters come one at a time") {
  const TemporaryFolder folder;
  Scattered scattered(world(), folder);
  REQUIRE(scattered.all.size() == 7);
  for (std::int64_t index = 0; index < 7; ++index) {
    const TrainedMember& member = scattered.all[static_cast<std::size_t>(index)];
    CHECK(member.model.index == index);
    CHECK(member.rank == (6 - index) % world().size());
    CHECK(member.model.validation_accuracy == 0.125 * static_cast<double>(index));
    CHECK(member.parameters().empty());
    CHECK(member.failure == (index == 3 ? "it failed" : ""));
  }
  for (const TrainedMember& member : scattered.mine)
    CHECK(member.model.parameters.empty() == (member.model.index % 2 == 0 || member.model.index == 3));

  MemberExchange exchange(scattered.voters, scattered.mine, kParameters, world());
  std::vector<std::vector<float>> found;
  exchange.bring_to_root([&](const MemberExchange::Next& next) {
    for (std::size_t voter = 0; voter < scattered.voters.size(); ++voter) {
      const std::span<const float> parameters = next(voter);
      found.emplace_back(parameters.begin(), parameters.end());
    }
  });
  CHECK(found.size() == (world().root() ? 6U : 0U));
  for (std::size_t voter = 0; voter < scattered.voters.size(); ++voter) {
    const std::vector<float> expected = parameters_of(scattered.voters[voter]->model.index);
    if (world().root()) CHECK(found[voter] == expected);
    CHECK(std::ranges::equal(exchange.bring_to_all(voter), expected));
  }
}

TEST_CASE("if rank 0 cannot write a member, all ranks learn it, and none waits for ever") {
  const TemporaryFolder folder;
  Scattered scattered(world(), folder);
  MemberExchange exchange(scattered.voters, scattered.mine, kParameters, world());
  const auto fails = [&](std::size_t after) {
    return error_of([&] {
      exchange.bring_to_root([&](const MemberExchange::Next& next) {
        for (std::size_t voter = 0; voter < after; ++voter) next(voter);
        throw Error("the disk is full");
      });
    });
  };
  for (const std::size_t after : {0U, 2U, 6U}) CHECK_THAT(fails(after), Contains("the disk is full"));
  CHECK(std::ranges::equal(exchange.bring_to_all(5), parameters_of(6)));
}
