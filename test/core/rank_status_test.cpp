#include "convoke/core/rank_status.hpp"

#include "convoke/core/timeline.hpp"
#include "support/catch.hpp"

using namespace convoke;

namespace {

std::string phase() {
  const char* const phase = RankStatus::read().phase;
  return phase == nullptr ? "none" : phase;
}

}  // namespace

TEST_CASE("another thread sees the innermost phase of the main thread, and its newest step") {
  Timeline timeline;
  const Timeline::Use use(timeline);
  CHECK(phase() == "none");
  {
    const Span load(Activity::kLoad);
    CHECK(phase() == "load");
  }
  {
    const Span step(Activity::kStep, nullptr, 41);
    CHECK(phase() == "step");
    {
      const Span exchange(Activity::kExchange);
      const Span detail(Activity::kForward);
      std::string seen;
      std::int64_t number = 0;
      std::thread([&] {
        seen = phase();
        number = RankStatus::read().step;
      }).join();
      CHECK(seen == "exchange");
      CHECK(number == 41);
    }
    CHECK(phase() == "step");
    std::thread([&] {  // a worker has phases of its own
      const Timeline::Use worker(&timeline, "worker 1");
      const Span data(Activity::kData);
      CHECK(phase() == "step");
    })
        .join();
  }
  CHECK(phase() == "none");
  CHECK(RankStatus::read().step == 41);
}

TEST_CASE("two readings of one wait are equal, those of two waits are not") {
  const auto wait = [] {
    const ScopedWait outer("a barrier");
    const RankStatus::Reading first = RankStatus::read();
    const ScopedWait inner("a message");
    const RankStatus::Reading second = RankStatus::read();
    CHECK(std::string(first.waits_for) == "a barrier");
    CHECK(std::string(second.waits_for) == "a barrier");
    CHECK(first.waits == second.waits);
    return first.waits;
  };
  const std::uint64_t before = wait();
  CHECK(RankStatus::read().waits_for == nullptr);
  CHECK(wait() != before);
}
