#include "convoke/study/analysis/replication.hpp"

#include <random>

#include "convoke/study/analysis/analysis.hpp"
#include "rows.hpp"
#include "support/catch.hpp"

using namespace convoke::study;

namespace {

std::vector<double> times(std::mt19937_64& random, std::int64_t count) {
  std::normal_distribution<double> time(100, 3);
  std::vector<double> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(time(random));
  return all;
}

}  // namespace

TEST_CASE("a second mean lies in the first's interval as often as predicted") {
  std::mt19937_64 random(11);
  const auto [first_runs, second_runs] = GENERATE(std::pair(5, 5), std::pair(5, 15), std::pair(10, 10));
  CAPTURE(first_runs, second_runs);
  constexpr int kStudies = 4000;
  double expected = 0;
  std::int64_t covered = 0;
  for (int i = 0; i < kStudies; ++i) {
    const auto first = configurations_of(runs("sync", 1, times(random, first_runs)));
    const auto second = configurations_of(runs("sync", 1, times(random, second_runs)));
    const Replication both = replication(first, second);
    covered += both.covered();
    expected = both.expected();
  }
  CHECK(expected < 0.95);
  CHECK(static_cast<double>(covered) / kStudies == Approx(expected).margin(0.02));
}

TEST_CASE("a repeated study is compared with the first") {
  const auto second = runs("sync", 1, {101, 102, 103}) + marked(runs("sync", 2, {70, 71, 72}), "contended") +
                      runs("sync", 8, {1, 2});
  AnalysisOptions options;
  options.again = table_with(second);
  const auto first =
      runs("sync", 1, {99, 103, 101}) + runs("sync", 2, {55, 56, 57}) + runs("sync", 4, {40, 41});
  const Analysis analysis = analyze(first, options);

  REQUIRE(analysis.replication);
  const Replication& both = *analysis.replication;
  REQUIRE(both.configurations.size() == 2);
  CHECK(both.configurations[0].covered);
  CHECK_FALSE(both.configurations[1].covered);
  CHECK(both.configurations[1].change.value == Approx(71.0 / 56));
  CHECK(both.configurations[1].marks == std::vector<std::string>{"contended"});
  CHECK(both.left_out.size() == 2);

  std::string text;
  for (const TextTable& table : tables(analysis)) {
    if (table.title == "Repetition") text += to_text(table);
  }
  CHECK_THAT(text, Contains("net, sync, 2 ranks [CONTENDED]") && Contains("26.8"));
  for (const std::string& remark : remarks(analysis)) text += remark + "\n";
  CHECK_THAT(text, Contains("1 of 2 means of the second study lie within the first's intervals (50 %)"));
  CHECK_THAT(text, Contains("left out, because only one study has them or they have no interval: net, sync, "
                            "4 ranks; net, sync, 8 ranks"));
  CHECK(to_settings(analysis).find("replication") != nullptr);
}

TEST_CASE("a repeated study is compared on the machines that both have") {
  const auto one = with(runs("sync", 1, {10, 11}) + runs("sync", 2, {5, 6}), &Measurement::machine, "A");
  const auto two = one + with(runs("sync", 1, {20, 21}), &Measurement::machine, "B");
  for (const auto& [first, second] : {std::pair(one, two), std::pair(two, one)}) {
    AnalysisOptions options;
    options.again = table_with(second);
    CHECK(analyze(first, options).replication->configurations.size() == 2);
  }
}

TEST_CASE("studies without a common configuration give a message") {
  const Replication both =
      replication(configurations_of(runs("sync", 1, {1, 2})), configurations_of(runs("ensemble", 1, {1, 2})));
  CHECK(both.configurations.empty());
  CHECK_THAT(sentence(both), Contains("no common configuration with an interval"));
}
