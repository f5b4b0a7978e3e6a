#include "convoke/study/analysis/time_to_accuracy.hpp"

#include "convoke/study/analysis/analysis.hpp"
#include "rows.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::study;

namespace {

std::string epoch(int member, int number, double seconds, const std::string& accuracy) {
  return "{\"event\":\"epoch\",\"member\":" + std::to_string(member) +
         ",\"epoch\":" + std::to_string(number) + ",\"seconds\":" + std::to_string(seconds) +
         ",\"validation_accuracy\":" + accuracy + "}\n";
}

}  // namespace

TEST_CASE("the time to an accuracy is that of the first validation that reached it") {
  const std::vector<Validation> validations{{10, 0.8}, {20, 0.95}, {30, 0.93}, {40, 0.97}};
  CHECK(seconds_to(0.9, validations) == 20);
  CHECK(seconds_to(0.95, validations) == 20);
  CHECK(seconds_to(0.96, validations) == 40);
  CHECK_FALSE(seconds_to(0.98, validations));
}

TEST_CASE("validations are read from a run's folder; for members, the mean accuracy and the slowest time") {
  const TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  std::ofstream(file) << epoch(0, 1, 2, "0.5") << "{\"event\":\"evaluation\",\"split\":\"test\"}\n"
                      << epoch(0, 2, 2, "0.9") << epoch(1, 1, 3, "0.7") << epoch(1, 2, 3, "0.8")
                      << epoch(1, 3, 3, "null") << "{\"event\":\"ep";
  const auto validations = read_validations(folder.path(), 2);
  REQUIRE(validations.size() == 2);
  CHECK(validations[0].seconds == 3);
  CHECK(validations[0].accuracy == Approx(0.6));
  CHECK(validations[1].seconds == 6);
  CHECK(validations[1].accuracy == Approx(0.85));
  // One rank trains them in turn: the second starts when the first is done.
  const auto in_turn = read_validations(folder.path(), 1);
  REQUIRE(in_turn.size() == 2);
  CHECK(in_turn[0].seconds == 4 + 3);
  CHECK(in_turn[1].seconds == 4 + 6);
  CHECK(read_validations(folder / "none", 2).empty());
  std::ofstream(file) << "{\"event\":\n";
  CHECK_THAT(error_of([&] { read_validations(folder.path(), 2); }), Contains("metrics.jsonl:1"));
}

TEST_CASE("members of one group of ranks were trained in turn, whichever group took them") {
  // Four members on groups of two ranks: the group of rank 0 trained 0 and 3, that of rank 2 trained 1 and 2.
  const TemporaryFolder folder;
  std::ofstream(folder / "summary.json")
      << R"({"member_facts": [{"member": 0, "rank": 0}, {"member": 1, "rank": 2}, {"member": 2, "rank": 2},
                              {"member": 3, "rank": 0}]})";
  std::ofstream(folder / "metrics.jsonl")
      << epoch(0, 1, 10, "0.5") << epoch(1, 1, 4, "0.5") << epoch(2, 1, 5, "0.5") << epoch(3, 1, 2, "0.5");
  const auto validations = read_validations(folder.path(), 4);
  REQUIRE(validations.size() == 1);
  CHECK(validations[0].seconds == 12);  // max(10 + 2, 4 + 5)
  // Gathered members were trained in jobs of their own.
  std::ofstream(folder / "summary.json")
      << R"({"gathered_from": ["a", "b", "c", "d"], "member_facts": [{"member": 0, "rank": 0},
             {"member": 1, "rank": 0}, {"member": 2, "rank": 0}, {"member": 3, "rank": 0}]})";
  CHECK(read_validations(folder.path(), 4).at(0).seconds == 10);
}

TEST_CASE("the runs of a study give the times to an accuracy") {
  const TemporaryFolder folder;
  auto measurements = runs("sync", 1, {10, 11, 12}) + runs("sync", 2, {6}, 0.5);
  for (std::size_t i = 0; i < 3; ++i) measurements[i].repeat = static_cast<std::int64_t>(i) + 1;
  const auto leave = [&](const std::string& name, const std::string& lines) {
    fs::create_directories(folder / "runs" / name);
    std::ofstream(folder / "runs" / name / "metrics.jsonl") << lines;
  };
  leave("net-sync-1x1-1", epoch(0, 1, 4, "0.91") + epoch(0, 2, 4, "0.96"));
  leave("net-sync-1x1-2", epoch(0, 1, 5, "0.95") + epoch(0, 2, 5, "0.97"));
  leave("net-sync-1x1-3", epoch(0, 1, 5, "0.90") + epoch(0, 2, 5, "0.94"));
  leave("net-sync-2x1-p0.5-1", epoch(0, 1, 5, "null"));  // without a validation split
  AnalysisOptions options;
  options.requirements.accuracy = 0.95;
  write_measurements(folder / "measurements.csv", measurements);
  const Analysis analysis = analyze(std::vector{read_table(folder / "measurements.csv")}, options);
  REQUIRE(analysis.times_to_accuracy.size() == 1);
  CHECK(analysis.times_to_accuracy[0].runs == 3);
  CHECK(analysis.times_to_accuracy[0].reached == 2);
  CHECK(analysis.times_to_accuracy[0].seconds->mean == Approx(6.5));  // 8 and 5
}

TEST_CASE("a contended run and its repetition have one folder, and a contended run that is left out none") {
  const TemporaryFolder folder;
  auto measurements = runs("sync", 1, {20, 12, 13}) + runs("sync", 1, {10});
  measurements[0].marks = measurements[2].marks = {"contended"};
  for (const Measurement& run : measurements) {
    const fs::path place = folder / "runs" / ("net-sync-1x1-" + std::to_string(run.repeat));
    fs::create_directories(place);
    std::ofstream(place / "metrics.jsonl") << epoch(0, 1, static_cast<double>(run.repeat), "0.9");
  }
  AnalysisOptions options;
  options.requirements.accuracy = 0.9;
  const auto times = [&](const std::vector<Measurement>& all) {
    write_measurements(folder / "measurements.csv", all);
    return analyze(std::vector{read_table(folder / "measurements.csv")}, options).times_to_accuracy.at(0);
  };
  CHECK(times(measurements).runs == 2);
  CHECK(times(measurements).seconds->mean == Approx(1.5));  // of the repeats 1 and 2
  CHECK(times(marked(measurements, "contended")).runs == 3);
}

TEST_CASE("the runs of several tables are in the folders of their tables") {
  const TemporaryFolder folder;
  std::vector<PublishedTable> tables;
  for (const int study : {1, 2}) {
    const fs::path place = folder / std::to_string(study);
    fs::create_directories(place / "runs/net-sync-1x1-1");
    std::ofstream(place / "runs/net-sync-1x1-1/metrics.jsonl") << epoch(0, 1, study, "0.9");
    write_measurements(place / "measurements.csv", runs("sync", 1, {10.0 + study}));
    tables.push_back(read_table(place / "measurements.csv"));
  }
  AnalysisOptions options;
  options.requirements.accuracy = 0.9;
  const Analysis analysis = analyze(tables, options);
  REQUIRE(analysis.times_to_accuracy.size() == 1);
  CHECK(analysis.times_to_accuracy[0].seconds->mean == Approx(1.5));  // 1 and 2
}
