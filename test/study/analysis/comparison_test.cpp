#include "convoke/study/analysis/comparison.hpp"

#include "convoke/study/analysis/advice.hpp"
#include "convoke/study/analysis/scaling.hpp"
#include "rows.hpp"
#include "support/catch.hpp"

using namespace convoke::study;

namespace {

std::vector<Measurement> scored(const std::string& mode, std::int64_t ranks, double seconds,
                                const std::vector<double>& accuracies) {
  auto all = runs(mode, ranks, std::vector<double>(accuracies.size(), seconds));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].accuracy = accuracies[i];
  return all;
}

}  // namespace

TEST_CASE("configurations that differ in one coordinate are compared; in ranks, only neighbors") {
  const auto configurations =
      configurations_of(runs("sync", 1, {10, 11}) + runs("sync", 2, {6, 6.1}) + runs("sync", 4, {4, 4.2}) +
                        runs("ensemble", 2, {5, 5.2}) + runs("ensemble", 1, {9}));
  const auto all = comparisons(configurations);
  REQUIRE(all.size() == 3);  // 1-2 and 2-4 ranks; sync and ensemble on 2; no single runs
  CHECK(all[0].varies == "ranks");
  CHECK(all[1].varies == "ranks");
  CHECK(all[1].a == 1);
  CHECK(all[1].b == 2);
  CHECK(all[2].varies == "mode");
  CHECK(all[2].test.difference == Approx(6.05 - 5.1));
  auto failed = marked(runs("sync", 2, {0}), "failed");  // 1-4 ranks: there are no times on 2
  CHECK(
      comparisons(configurations_of(runs("sync", 1, {10, 11}) + failed + runs("sync", 4, {4, 4.2}))).size() ==
      1);
  // Holm: the smallest p times 3, the next times 2, the largest unchanged, and none below the previous one.
  std::vector<double> p{all[0].test.p, all[1].test.p, all[2].test.p};
  std::sort(p.begin(), p.end());
  std::vector<double> adjusted{all[0].p_holm, all[1].p_holm, all[2].p_holm};
  std::sort(adjusted.begin(), adjusted.end());
  CHECK(adjusted[0] == Approx(3 * p[0]));
  CHECK(adjusted[1] == Approx(std::max(3 * p[0], 2 * p[1])));
  CHECK(adjusted[2] == Approx(std::max({3 * p[0], 2 * p[1], p[2]})));
}

TEST_CASE("up to 32 variants are compared with each other, more of them only with the first") {
  for (const std::size_t variants : {32U, 33U}) {
    std::vector<Measurement> rows;
    for (std::size_t v = 0; v < variants; ++v) {
      for (Measurement row : runs("sync", 1, {10, 11})) {
        row.variant = v == 0 ? "" : "train.batch=" + std::to_string(v);
        rows.push_back(row);
      }
    }
    const auto all = comparisons(configurations_of(rows));
    CHECK(all.size() == (variants == 32 ? 32 * 31 / 2 : 32));
    CHECK(all[0].varies == "variant");
    if (variants == 32) continue;
    CHECK(std::ranges::all_of(all, [](const Comparison& c) { return c.a == 0; }));
  }
}

TEST_CASE("machines are compared, and speed-ups and verdicts stay within one machine") {
  const auto slow =
      with(runs("sync", 1, {20, 20.2}) + runs("sync", 2, {11, 11.1}), &Measurement::machine, "slow");
  const auto fast =
      with(runs("sync", 1, {10, 10.1}) + runs("sync", 2, {6, 6.1}), &Measurement::machine, "fast");
  const auto configurations = configurations_of(slow + fast);
  REQUIRE(configurations.size() == 4);
  const auto all = comparisons(configurations);
  CHECK(std::ranges::count(all, "machine", &Comparison::varies) == 2);
  CHECK(std::ranges::count(all, "ranks", &Comparison::varies) == 2);
  const auto curves = scaling_curves(configurations, {}, {});
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].shared.machine == "slow");
  CHECK(curves[0].points.back().speedup.value == Approx(20.1 / 11.05));
  CHECK(curves[1].points.back().speedup.value == Approx(10.05 / 6.05));
}

TEST_CASE("an ensemble is compared with the best synchronous training of its core-seconds") {
  const auto ensemble = scored("ensemble", 2, 5, {0.95, 0.952, 0.951});  // 10 core-seconds
  const auto cheap = scored("sync", 1, 8, {0.90, 0.91, 0.905});          // 8
  const auto equal = scored("sync", 2, 5.2, {0.98, 0.981, 0.982});       // 10.4
  const auto dear = scored("sync", 4, 4, {0.99, 0.991, 0.99});           // 16
  {
    const auto configurations = configurations_of(ensemble + cheap + equal + dear);
    const auto verdicts = at_equal_cost(configurations);
    REQUIRE(verdicts.size() == 1);
    CHECK(configurations[verdicts[0].sync].at.ranks == 2);
    CHECK(verdicts[0].better == "sync");
    CHECK(verdicts[0].core_seconds_ratio == Approx(1.04));
    CHECK_THAT(sentence(verdicts[0], configurations),
               Contains("net, sync, 2 ranks (98.10 % in 5.2 s, 10.4 core-seconds) against"));
    CHECK_THAT(sentence(verdicts[0], configurations), Contains("3.00 points more"));
  }
  {
    const auto verdicts = at_equal_cost(configurations_of(ensemble + cheap));
    CHECK(verdicts.at(0).better == "ensemble");
  }
  {
    const auto configurations = configurations_of(ensemble + dear);
    CHECK_THAT(sentence(at_equal_cost(configurations).at(0), configurations),
               Contains("no synchronous configuration is equally cheap"));
    CHECK(at_equal_cost(configurations).at(0).better ==
          "dearer");  // higher accuracy at higher cost is not a verdict
  }
  for (const std::vector<double>& scores : {std::vector{0.97}, {0.97, 0.97}}) {  // one seed: no scatter
    const auto configurations = configurations_of(ensemble + scored("sync", 2, 5, scores));
    CHECK(std::ranges::count(comparisons(configurations), "accuracy", &Comparison::quantity) == 0);
    CHECK(at_equal_cost(configurations).at(0).better == "unknown");
    CHECK_THAT(sentence(at_equal_cost(configurations).at(0), configurations),
               Contains("no test is possible"));
  }
  {
    const auto configurations = configurations_of(ensemble + scored("sync", 2, 5, {0.95, 0.951, 0.953}));
    CHECK(at_equal_cost(configurations).at(0).better.empty());
    CHECK_THAT(sentence(at_equal_cost(configurations).at(0), configurations),
               Contains("which is not significant"));
  }
  {  // its twin has another name, and is used if there is no synchronous configuration of its own
    const auto twin = with(scored("sync", 2, 5.2, {0.98, 0.981, 0.982}), &Measurement::system, "twin");
    const auto configurations = configurations_of(ensemble + twin);
    CHECK(configurations[at_equal_cost(configurations).at(0).sync].at.system == "twin");
    CHECK(comparisons(configurations).at(0).varies == "system and mode");
    const auto own = configurations_of(ensemble + cheap + twin);
    CHECK(own[at_equal_cost(own).at(0).sync].at.system == "net");
  }
  {  // but not if it was trained on other data
    const auto twin = with(scored("sync", 2, 5.2, {0.98, 0.981, 0.982}), &Measurement::system, "twin");
    const auto on = [](const std::vector<Measurement>& all, const char* dataset) {
      return with(all, &Measurement::dataset_hash, dataset);
    };
    const auto other = configurations_of(on(ensemble, "crc32:1") + on(twin, "crc32:2"));
    CHECK(at_equal_cost(other).empty());
    CHECK(comparisons(other).empty());
    for (const char* dataset : {"", "crc32:2"})  // the ensemble's dataset is unknown, or the same
      CHECK(at_equal_cost(configurations_of(on(ensemble, dataset) + on(twin, "crc32:2"))).size() == 1);
  }
  {  // groups vote too; their members do not make it different work
    const auto groups = with(scored("groups", 4, 2.5, {0.95, 0.952, 0.951}), &Measurement::variant,
                             "train.epochs=2 ensemble.members=2");
    const auto sync = with(equal, &Measurement::variant, "train.epochs=2");
    CHECK(at_equal_cost(configurations_of(groups + sync)).at(0).better == "sync");
    CHECK(at_equal_cost(configurations_of(groups + equal)).empty());
  }
  {  // the most accurate configuration is chosen by the lower ends of intervals
    auto lucky = scored("sync", 2, 5, {0.93, 0.999});
    const auto configurations =
        configurations_of(ensemble + lucky + scored("sync", 1, 10, {0.96, 0.961, 0.962}));
    CHECK(configurations[at_equal_cost(configurations).at(0).sync].at.ranks == 1);
  }
  CHECK(at_equal_cost(configurations_of(ensemble)).empty());
}

TEST_CASE("groups are compared with their model in synchronous mode") {
  const auto groups = with(runs("groups", 4, {30, 31}), &Measurement::variant, "ensemble.members=2");
  const auto all = comparisons(configurations_of(groups + runs("sync", 4, {40, 41})));
  REQUIRE(all.size() == 1);
  CHECK(all[0].varies == "mode");
}

TEST_CASE("workers are recommended for a deadline, a budget and an accuracy") {
  const auto configurations =
      configurations_of(scored("sync", 1, 100, {0.95, 0.95}) + scored("sync", 2, 55, {0.97, 0.97}) +
                        scored("sync", 4, 32.5, {0.96, 0.96}));  // Amdahl: f = 0.1
  const auto curves = scaling_curves(configurations, {}, {});
  const auto ranks = [&](const Requirements& requirements, std::int64_t up_to = 0) -> std::int64_t {
    const auto all = recommend(curves, configurations, requirements, up_to);
    REQUIRE(all.size() == 1);
    return all[0].possible ? all[0].at.ranks : 0;
  };
  CHECK(ranks({.deadline_seconds = 60}) == 2);
  CHECK(ranks({.deadline_seconds = 54}) == 4);
  CHECK(ranks({.deadline_seconds = 20}) == 0);
  CHECK(ranks({.deadline_seconds = 20.1}, 64) == 9);  // 100 (0.1 + 0.9 / 9)
  CHECK(ranks({.deadline_seconds = 9}, 1024) == 0);
  CHECK(ranks({.budget_core_seconds = 115}) == 2);
  CHECK(ranks({.budget_core_seconds = 200}) == 4);
  CHECK(ranks({.accuracy = 0.965}) == 2);
  CHECK(ranks({.deadline_seconds = 40, .accuracy = 0.965}, 64) == 0);
  CHECK_THAT(recommend(curves, configurations, {.deadline_seconds = 9}, 8)[0].reason,
             Contains("no measured configuration fulfils this, nor does Amdahl's law up to 8 workers"));
  // The law does not predict accuracies.
  CHECK_THAT(recommend(curves, configurations, {.deadline_seconds = 9, .accuracy = 0.96}, 8)[0].reason,
             Contains("no measured configuration fulfils this") && !Contains("Amdahl"));
}

TEST_CASE("an accuracy is recommended by the lower end of its interval") {
  const auto configurations =
      configurations_of(scored("sync", 1, 100, {0.95, 0.99}) + scored("sync", 2, 55, {0.96, 0.961}));
  const auto best = recommend(scaling_curves(configurations, {}, {}), configurations, {.accuracy = 0.95}, 0);
  REQUIRE(best.at(0).possible);
  CHECK(best[0].at.ranks == 2);  // 0.97 in the mean of one rank, but 0.72 to 1.22
  CHECK(best[0].accuracy->interval);
  CHECK_FALSE(
      recommend(scaling_curves(configurations, {}, {}), configurations, {.accuracy = 0.9602}, 0)[0].possible);
}

TEST_CASE(
    "an oversubscribed configuration does not suppress a prediction, and the base of another mode is not "
    "recommended") {
  const auto crowded = marked(runs("sync", 8, {90, 90}), "oversubscribed");
  const auto contended = marked(runs("sync", 2, {55, 55}), "contended");
  const auto configurations = configurations_of(runs("sync", 1, {100, 100}) + contended + crowded);
  const auto best =
      recommend(scaling_curves(configurations, {}, {}), configurations, {.deadline_seconds = 42}, 16);
  CHECK(best.at(0).at.ranks == 3);  // 100 (0.1 + 0.9 / 3) = 40
  CHECK(best[0].predicted);
  CHECK(best[0].marks == std::vector<std::string>{"contended"});

  const auto mixed = configurations_of(runs("sync", 1, {100, 100}) + runs("sync", 2, {55, 55}) +
                                       runs("ensemble", 2, {60, 60}));
  for (const Recommendation& r :
       recommend(scaling_curves(mixed, {}, {}), mixed, {.deadline_seconds = 120}, 0)) {
    if (r.curve == "net, ensemble") CHECK(r.at.ranks == 2);
    if (r.curve == "net, sync") CHECK(r.at.ranks == 1);
  }
}

TEST_CASE("without a curve of makespans there is no recommendation, and the reason is given") {
  const auto configurations = configurations_of(runs("sync", 1, {10}));
  const auto all = recommend({}, configurations, {.deadline_seconds = 9}, 0);
  REQUIRE(all.size() == 1);
  CHECK_FALSE(all[0].possible);
  CHECK_THAT(all[0].reason, Contains("makespans of at least two numbers of workers are needed"));
}

TEST_CASE(
    "an oversubscribed configuration is never recommended, and the interval's upper end must meet the "
    "deadline") {
  const auto slow = marked(runs("sync", 4, {30, 30}), "oversubscribed");
  const auto configurations =
      configurations_of(runs("sync", 1, {99, 101}) + runs("sync", 2, {54, 56}) + slow);
  const auto curves = scaling_curves(configurations, {}, {});
  CHECK_FALSE(recommend(curves, configurations, {.deadline_seconds = 40}, 0)[0].possible);
  CHECK_FALSE(recommend(curves, configurations, {.deadline_seconds = 56}, 0)[0].possible);
  CHECK(recommend(curves, configurations, {.deadline_seconds = 70}, 0)[0].at.ranks == 2);
}
