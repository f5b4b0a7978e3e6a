#include "convoke/core/timeline.hpp"

#include "support/catch.hpp"

using namespace convoke;

namespace {

void spend(Nanoseconds time) {
  const Nanoseconds end = clock_now() + time;
  while (clock_now() < end) {
  }
}

}  // namespace

TEST_CASE("a span without a track is not timed") {
  REQUIRE(Track::mine() == nullptr);
  Span span(Activity::kLoad);
  CHECK(span.close() == 0);
  CHECK(Timeline::current() == nullptr);
}

TEST_CASE("spans add up to the seconds of their phase, nested ones once") {
  Timeline timeline;
  double seconds = 0;
  {
    const Timeline::Use use(timeline);
    CHECK(Timeline::current() == &timeline);
    for (int i = 0; i < 2; ++i) {
      Span outer(Activity::kCheckpoint);
      spend(1'000'000);
      Span inner(Activity::kCheckpoint);
      spend(1'000'000);
      CHECK(inner.close() >= 1e-3);
      CHECK(inner.close() == 0);
      seconds += outer.close();
    }
    const Span detail(Activity::kForward);
    spend(1000);
  }
  CHECK(Track::mine() == nullptr);
  CHECK(seconds >= 4e-3);
  CHECK(timeline.seconds(Activity::kCheckpoint) == Approx(seconds));
  CHECK(timeline.seconds(Activity::kForward) == 0);  // a detail, and nobody asked for events
  CHECK(timeline.main().steps().size() == 0);
}

TEST_CASE("a phase does not have the time of another phase within it, but a step has all of its time") {
  Timeline timeline;
  const Timeline::Use use(timeline);
  Span step(Activity::kStep);
  Span update(Activity::kUpdate);
  spend(1'000'000);
  Span exchange(Activity::kExchange, "all-reduce");
  spend(1'000'000);
  const double inner = exchange.close(), outer = update.close(), whole = step.close();
  CHECK(timeline.seconds(Activity::kExchange) == Approx(inner));
  CHECK(timeline.seconds(Activity::kUpdate) == Approx(outer - inner));
  CHECK(timeline.seconds(Activity::kStep) == Approx(whole));
}

TEST_CASE("the share of a step in which its thread had a core leaves out the exchange") {
  Timeline timeline;
  const Timeline::Use use(timeline);
  CHECK(timeline.main().core_share() == 1);
  for (int step = 1; step <= 16; ++step) {
    const Span whole(Activity::kStep, nullptr, step);
    {
      const Span exchange(Activity::kExchange);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // not counted
    }
    // Of the only step that is sampled, a thread that sleeps has no core.
    if (step == 16) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(timeline.main().core_share() < 0.2);
}

TEST_CASE("a track keeps its newest events, those within steps apart from the others") {
  Timeline timeline(4);
  Track& main = timeline.main();
  main.record({0, 5, nullptr, -1, Activity::kLoad});
  for (int i = 0; i < 10; ++i) {
    main.record({10 * i, 10 * i + 7, lasting_text("conv2d forward"), i, Activity::kForward});
  }
  REQUIRE(main.steps().size() == 4);
  CHECK(main.steps().dropped() == 6);
  for (std::size_t i = 0; i < 4; ++i) CHECK(main.steps()[i].number == static_cast<int>(6 + i));
  REQUIRE(main.rare().size() == 1);
  CHECK(main.rare()[0].activity == Activity::kLoad);
  CHECK(main.seconds(Activity::kForward) == Approx(70e-9));
}

TEST_CASE("every thread has its track; a later thread of the same name continues it") {
  Timeline timeline(8);
  const Timeline::Use use(timeline);
  for (int round = 0; round < 2; ++round) {
    std::thread([&] {
      const Timeline::Use mine(&timeline, "worker 1");
      const Span span(Activity::kData, "row", round);
    }).join();
  }
  std::thread([] {
    const Timeline::Use nobody(nullptr, "worker 2");
    const Span span(Activity::kData);
  }).join();
  REQUIRE(timeline.tracks().size() == 2);
  CHECK(timeline.tracks()[0]->name() == "main");
  CHECK(timeline.tracks()[1]->name() == "worker 1");
  CHECK(timeline.tracks()[1]->steps().size() == 2);
  CHECK(timeline.tracks()[0]->steps().size() == 0);
}

TEST_CASE("flights may overlap each other") {
  Timeline timeline(8);
  const Timeline::Use use(timeline);
  Flights flights;
  flights.start(0);
  flights.start(1);
  flights.end(0);
  flights.end(0);  // ended already
  flights.end(1);
  const EventRing& events = timeline.main().steps();
  REQUIRE(events.size() == 2);
  CHECK(events[0].number == 0);
  CHECK(events[1].number == 1);
  CHECK(events[1].begin <= events[0].end);
}

TEST_CASE("a label outlives the text that it was made from") {
  const char* label = nullptr;
  {
    const std::string text = "dense_" + std::to_string(3) + " backward weights";
    label = lasting_text(text);
  }
  CHECK(std::string(label) == "dense_3 backward weights");
  CHECK(lasting_text("dense_3 backward weights") == label);
}

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
