#include "convoke/study/running/schedule.hpp"

#include <random>

#include "convoke/study/analysis/statistics.hpp"
#include "support/catch.hpp"

using namespace convoke::study;

namespace {

StudyFile rules(std::int64_t repeats, std::int64_t at_most, double target = 0.05) {
  StudyFile study;
  study.repeats = repeats, study.at_most = at_most, study.target = target;
  return study;
}

Measurement a_run(std::int64_t repeat, double makespan, std::vector<std::string> marks = {}) {
  Measurement made;
  made.repeat = repeat;
  made.makespan_seconds = makespan;
  made.marks = std::move(marks);
  return made;
}

}  // namespace

TEST_CASE("every round runs every configuration once, and starts when the previous round has ended") {
  RunSchedule schedule(rules(3, 3), 5);
  std::map<std::size_t, std::int64_t> made;
  for (int i = 0; i < 15; ++i) {
    const auto task = schedule.next({});
    REQUIRE(task);
    CHECK(task->repeat == i / 5 + 1);
    CHECK(++made[task->configuration] == task->repeat);
    CHECK(schedule.runs_left() == 15 - i);
    schedule.record(task->configuration, a_run(task->repeat, 1), 1);
  }
  CHECK_FALSE(schedule.next({}));
  CHECK(schedule.runs_left() == 0);
}

TEST_CASE(
    "runs of another machine are not repeats: a study that moves continues until one machine has enough") {
  RunSchedule schedule(rules(3, 20), 1);
  for (std::int64_t repeat = 1; repeat <= 4; ++repeat) {
    Measurement made = a_run(repeat, repeat <= 2 ? 30 : 10 + 0.01 * static_cast<double>(repeat));
    made.machine = repeat <= 2 ? "slow" : "fast";
    schedule.record(0, made, 1);
  }
  CHECK_FALSE(schedule.is_done(0));
  CHECK(schedule.runs_left(0) == 1);
  Measurement last = a_run(5, 10.05);
  last.machine = "fast";
  schedule.record(0, last, 1);
  CHECK(schedule.is_done(0));  // if pooled, the scatter would require dozens
}

TEST_CASE("runs are added only to configurations that are not precise enough") {
  RunSchedule schedule(rules(3, 20), 2);
  int scattered = 0, steady = 0;
  while (const auto task = schedule.next({})) {
    const bool first = task->configuration == 0;
    ++(first ? scattered : steady);
    // 10 +- 1: 5 % of the mean are half a second, t(n - 1) / sqrt(n) of a standard deviation of about 1.
    schedule.record(task->configuration,
                    a_run(task->repeat, first ? (task->repeat % 2 == 0 ? 9 : 11)
                                              : 10 + 0.01 * static_cast<double>(task->repeat)),
                    1);
  }
  CHECK(steady == 3);
  // scipy: t.ppf(0.975, n - 1) * std / sqrt(n) / mean of 11, 9, 11, ... (ddof=1) is 0.0512 for 18, 0.0492
  // for 19.
  CHECK(scattered == 19);
  CHECK(schedule.is_done(0));
}

TEST_CASE("equal times are precise enough, a single time never is") {
  RunSchedule equal(rules(2, 10), 1);
  int runs = 0;
  while (const auto task = equal.next({})) equal.record(0, a_run(task->repeat, 3), 3), ++runs;
  CHECK(runs == 2);

  RunSchedule single(rules(1, 4), 1);
  runs = 0;
  while (const auto task = single.next({}))
    single.record(0, a_run(task->repeat, task->repeat % 2 == 0 ? 3 : 4), 3), ++runs;
  CHECK(runs == 4);
}

TEST_CASE("a resumed study makes missing, failed and contended runs, each only once") {
  RunSchedule schedule(rules(3, 3), 2);
  schedule.record(0, a_run(1, 1));
  schedule.record(0, a_run(2, 1, {"failed"}));
  schedule.record(1, a_run(1, 1));
  schedule.record(1, a_run(2, 1, {"contended"}));
  schedule.record(1, a_run(3, 1, {"contended"}));
  schedule.record(1, a_run(3, 1, {"contended"}));  // one repetition is enough
  CHECK(schedule.runs_left() == 2 + 1);
  std::map<std::size_t, std::vector<std::int64_t>> made;
  while (const auto task = schedule.next({})) {
    made[task->configuration].push_back(task->repeat);
    CHECK(task->again == (task->configuration == 1));
    schedule.record(task->configuration, a_run(task->repeat, 1), 1);
  }
  CHECK(made[0] == std::vector<std::int64_t>{2, 3});
  CHECK(made[1] == std::vector<std::int64_t>{2});
  CHECK(schedule.runs_left() == 0);
}

TEST_CASE(
    "a contended run is repeated once at the end of its round, or later if the budget has no time for it") {
  RunSchedule schedule(rules(1, 1), 3);
  std::vector<Task> tasks;
  while (const auto task = schedule.next({})) {
    tasks.push_back(*task);
    schedule.record(
        task->configuration,
        a_run(task->repeat, 1,
              task->configuration == 1 ? std::vector<std::string>{"contended"} : std::vector<std::string>{}),
        1);
  }
  REQUIRE(tasks.size() == 4);
  CHECK(tasks.back().again);
  CHECK(tasks.back().configuration == 1);
  CHECK(tasks.back().repeat == 1);

  RunSchedule short_of_time(rules(1, 1), 1);
  const auto first = short_of_time.next(10);
  REQUIRE(first);
  short_of_time.record(0, a_run(1, 8, {"contended"}), 8);
  CHECK(short_of_time.runs_left() == 1);
  CHECK(short_of_time.seconds_left() == 8);
  CHECK_FALSE(short_of_time.next(2));
  CHECK(short_of_time.left_out() == 1);
  CHECK(short_of_time.runs_left() == 1);
}

TEST_CASE("a configuration is done when the requested number of runs count") {
  RunSchedule schedule(rules(3, 6), 1);
  for (std::int64_t repeat = 1; repeat <= 3; ++repeat) schedule.record(0, a_run(repeat, 10));
  CHECK(schedule.is_done(0));
  RunSchedule contended(rules(3, 6), 1);
  for (std::int64_t repeat = 1; repeat <= 4; ++repeat) {
    contended.record(
        0,
        a_run(repeat, 10, repeat < 3 ? std::vector<std::string>{"contended"} : std::vector<std::string>{}));
  }
  CHECK_FALSE(contended.is_done(0));  // two count
  CHECK(contended.runs_left(0) == 1);
  CHECK(contended.runs_left() == 2);  // both are repeated
  RunSchedule single(rules(1, 4), 1);
  single.record(0, a_run(1, 10));
  CHECK(single.runs_left() == 1);  // one run: the number of runs needed is unknown
}

TEST_CASE("a configuration whose runs fail repeatedly is abandoned, the others are not") {
  RunSchedule schedule(rules(10, 10), 2);
  int failed = 0, good = 0;
  while (const auto task = schedule.next({})) {
    const bool fails = task->configuration == 0;
    ++(fails ? failed : good);
    schedule.record(
        task->configuration,
        a_run(task->repeat, 1, fails ? std::vector<std::string>{"failed"} : std::vector<std::string>{}), 1);
  }
  CHECK(failed == kFailuresInARow);
  CHECK(good == 10);
  CHECK(schedule.is_given_up(0));
}

TEST_CASE("runs that do not fit into the time budget are left out") {
  RunSchedule schedule(rules(5, 5), 2);
  double left = 100;
  std::map<std::size_t, int> made;
  while (const auto task = schedule.next(left)) {
    const double seconds = task->configuration == 0 ? 30 : 5;
    ++made[task->configuration];
    left -= seconds;
    schedule.record(task->configuration, a_run(task->repeat, seconds), seconds);
  }
  CHECK(made[0] == 2);  // 30 + 5, 30 + 5, then 30 are left
  CHECK(made[1] == 5);
  CHECK(schedule.left_out() == 3);
  CHECK(left >= 0);
}

TEST_CASE(
    "the remaining time is estimated from each configuration's time, or from the mean of all "
    "configurations") {
  RunSchedule schedule(rules(3, 3), 3);
  CHECK(schedule.expected_seconds(0) == 0);
  schedule.record(0, a_run(1, 4), 5);
  schedule.record(1, a_run(1, 1), 1);
  CHECK(schedule.expected_seconds(0) == 5);
  CHECK(schedule.expected_seconds(2) == 3);
  CHECK(schedule.seconds_left() == Approx(2 * 5 + 2 * 1 + 3 * 3));
  schedule.record(2, a_run(1, 2), 0, 4);  // four members, one after another
  CHECK(schedule.expected_seconds(2) == 8);
}

// A rule that stops as soon as an interval is narrow stops too early when runs agree by chance.
// docs/studies.md has these figures.
TEST_CASE("intervals of configurations with added runs contain the true mean nearly as often as stated") {
  const auto [repeats, scatter, at_least] = GENERATE(table<std::int64_t, double, double>(
      {{10, 0.05, 0.93}, {10, 0.1, 0.92}, {5, 0.05, 0.93}, {5, 0.1, 0.9}}));
  constexpr int kConfigurations = 2000;
  std::mt19937_64 random(5);
  std::normal_distribution<double> time(100, 100 * scatter);
  RunSchedule schedule(rules(repeats, 30), kConfigurations);
  std::vector<std::vector<double>> makespans(kConfigurations);
  while (const auto task = schedule.next({})) {
    makespans[task->configuration].push_back(time(random));
    schedule.record(task->configuration, a_run(task->repeat, makespans[task->configuration].back()), 1);
  }
  const auto held = std::count_if(makespans.begin(), makespans.end(), [](const std::vector<double>& runs) {
    const Interval interval = *summarize(runs).interval;
    return interval.low <= 100 && 100 <= interval.high;
  });
  const double share = static_cast<double>(held) / kConfigurations;
  CAPTURE(repeats, scatter, share);
  CHECK(share >= at_least);
  CHECK(share < 0.96);
}
