#include "convoke/study/analysis/analysis.hpp"

#include "convoke/metrics/json.hpp"
#include "rows.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"
#include "tiny_recipe.hpp"

using namespace convoke::study;

namespace {

const TextTable& table_called(const std::vector<TextTable>& all, std::string_view title) {
  const auto it = std::ranges::find(all, title, &TextTable::title);
  REQUIRE(it != all.end());
  return *it;
}

std::string all_remarks(const Analysis& analysis) {
  std::string text;
  for (const std::string& remark : remarks(analysis)) text += remark + "\n";
  return text;
}

}  // namespace

TEST_CASE("predictions have their mark everywhere, and are never among measurements") {
  const auto predicted = marked(runs("sync", 1, {10}) + runs("sync", 2, {5}), "predicted");
  const Analysis alone = analyze(predicted, {});
  CHECK_THAT(to_text(table_called(tables(alone), "Scaling of net, sync")),
             Contains("2 [PREDICTED]               5    2.0000"));
  CHECK_THAT(error_of([&] { analyze(predicted + runs("sync", 4, {3}), {}); }), Contains("is a prediction"));
  const std::string birds = source_path("docs/results/birds");
  const std::vector<PublishedTable> tables{read_table(birds + "/fractions.csv"),
                                           read_table(birds + "/prediction.csv")};
  CHECK_THAT(error_of([&] { analyze(tables, {}); }),
             Contains("prediction.csv:2: is a prediction") && Contains("fractions.csv:2 is not"));
}

TEST_CASE("an analysis is converted to tables") {
  AnalysisOptions options;
  options.scaling.up_to = 8;
  options.requirements.deadline_seconds = 60;
  auto failed = runs("sync", 4, {1});
  failed[0].marks = {"failed"};
  const auto measurements = runs("sync", 1, {99, 101, 100}) + runs("sync", 2, {55, 55, 55}) +
                            runs("ensemble", 2, {40, 70}) + failed;
  const Analysis analysis = analyze(measurements, options);
  const auto all = tables(analysis);
  for (const TextTable& table : all) {
    CAPTURE(table.title);
    CHECK(!table.rows.empty());
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    CHECK_THAT(to_text(table), Contains(table.columns.back()));
  }
  const TextTable& configurations = table_called(all, "Configurations");
  CHECK(std::ranges::find(configurations.columns, "accuracy (%)") ==
        configurations.columns.end());  // it is unknown
  CHECK_THAT(to_text(configurations), Contains("100.0 ± 2.5"));
  CHECK_THAT(to_text(configurations), Contains("1 failed"));
  CHECK_THAT(to_text(table_called(all, "Scaling of net, sync")), Contains("1.8182 (1.7"));
  CHECK(table_called(all, "Predicted by Amdahl's law").rows.size() == 8);
  CHECK_THAT(to_text(table_called(all, "Recommended")), Contains("the fewest workers"));

  const std::string text = all_remarks(analysis);
  CHECK_THAT(text, Contains("net, sync, 2 ranks: all 3 runs have the same makespan_seconds"));
  CHECK_THAT(text, Contains("net, sync, 4 ranks: all runs failed"));
  CHECK_THAT(text, !Contains("times to an accuracy"));
  CHECK_THAT(all_remarks(analyze(with(runs("sync", 1, {10, 11}), &Measurement::accuracy, 0.9), {})),
             Contains("in 1 of 1 configurations all runs are equally accurate"));

  options.requirements.accuracy = 0.9;
  PricedMachine spot;
  spot.name = "spot";
  spot.preemptible_price_per_hour = 1;
  options.machines = {spot};
  const Analysis more = analyze(measurements, options);
  CHECK_THAT(all_remarks(more), Contains("times to an accuracy are unknown"));
  CHECK_THAT(to_text(table_called(tables(more), "Cost of one training")), Contains("unknown"));
}

TEST_CASE("marks stand next to each unreliable figure, and no law is fitted to ranks without cores") {
  const auto crowded =
      marked(runs("sync", 4, {54, 56, 55}) + runs("sync", 4, {30, 31}, 0.5), "oversubscribed");
  const auto good = runs("sync", 1, {99, 101, 100}) + runs("sync", 2, {55, 56, 54}) +
                    runs("sync", 1, {50, 51}, 0.5) + runs("sync", 2, {28, 29}, 0.5);
  const Analysis analysis = analyze(good + crowded, {});
  for (const TextTable& table : tables(analysis)) {
    CAPTURE(table.title);
    if (table.title != "Amdahl's law" && !table.title.starts_with("Work"))
      CHECK_THAT(to_text(table), Contains("[OVERSUBSCRIBED]"));
  }
  CHECK(analysis.curves.at(0).amdahl->serial_fraction().value ==
        analyze(good, {}).curves.at(0).amdahl->serial_fraction().value);
  CHECK(analysis.curves[0].points.size() == 3);
}

TEST_CASE(
    "one machine is named once, several name their configurations, and a table without the column is "
    "readable") {
  const auto here = with(runs("sync", 1, {10, 10.1}), &Measurement::machine, "fast");
  const auto there = runs("sync", 1, {20, 20.2});
  const Analysis one = analyze(here, {});
  CHECK(one.machine == "fast");
  CHECK_THAT(all_remarks(one), Contains("all runs used one machine: fast"));
  CHECK(to_string(one.configurations.at(0).at) == "net, sync, 1 rank");
  const Analysis two = analyze(here + there, {});
  CHECK(two.machine.empty());
  REQUIRE(two.configurations.size() == 2);
  CHECK(to_string(two.configurations[0].at) == "net, sync, 1 rank, fast");
  CHECK(to_string(two.configurations[1].at) == "net, sync, 1 rank, unknown machine");
  CHECK(two.comparisons.at(0).varies == "machine");

  AnalysisOptions again;
  again.again = table_with(with(there, &Measurement::machine, "slow"));
  const Analysis repeated = analyze(here, again);
  CHECK(repeated.replication->configurations.size() == 1);
  CHECK_THAT(all_remarks(repeated), Contains("ran on another machine: slow instead of fast"));
}

TEST_CASE("scores, the time of the test and further numbers have columns, if any configuration has them") {
  auto times = with(runs("sync", 1, {10, 11}) + runs("sync", 2, {6, 7}), &Measurement::accuracy, 0.9);
  const auto plain = tables(analyze(times, {}));
  CHECK(std::ranges::find(plain, "Scores", &TextTable::title) == plain.end());
  times[0].training_accuracy = 0.96;
  times[1].training_accuracy = 0.98;
  times[0].quadratic_kappa = -0.5;
  times[0].test_seconds = 0.25;
  times[2].further["test.ece"] = 0.0123;
  const auto all = tables(analyze(times, {}));
  const TextTable& scores = table_called(all, "Scores");
  CHECK(scores.columns == std::vector<std::string>{"configuration", "test accuracy (%)",
                                                   "training accuracy (%)", "quadratic kappa"});
  CHECK(scores.rows[0][2] == "97 ± 13");  // 0.02 / 2 * t(1) 12.706
  CHECK(scores.rows[0][3] == "-0.5");
  CHECK(scores.rows[1][2].empty());
  const TextTable& phases = table_called(all, "Phases");
  CHECK(phases.columns == std::vector<std::string>{"configuration", "test, part of the evaluation"});
  CHECK(phases.rows.size() == 1);
  const TextTable& further = table_called(all, "Further numbers");
  CHECK(further.columns == std::vector<std::string>{"configuration", "test.ece"});
  CHECK(further.rows == std::vector<std::vector<std::string>>{{"net, sync, 2 ranks", "0.0123"}});
  const std::string json = convoke::metrics::to_json(to_settings(analyze(times, {})), false);
  CHECK_THAT(json, Contains("\"summary.test.ece\":") && Contains("\"test_seconds\":"));
}

TEST_CASE("many verdicts become a table and a count, a few become sentences") {
  std::vector<Measurement> measurements;
  const auto scored = [&](const std::string& mode, std::int64_t ranks, double accuracy) {
    for (const double scatter : {-0.001, 0.0, 0.001}) {
      auto run = runs(mode, ranks, {10.0 / static_cast<double>(ranks)});
      run[0].repeat = static_cast<std::int64_t>(measurements.size());
      run[0].accuracy = accuracy + scatter;
      measurements.push_back(run[0]);
    }
  };
  scored("sync", 1, 0.95);
  scored("ensemble", 2, 0.99);
  CHECK_THAT(all_remarks(analyze(measurements, {})), Contains("against net, sync, 1 rank"));
  scored("ensemble", 4, 0.95), scored("ensemble", 8, 0.9), scored("ensemble", 16, 0.8);
  const Analysis analysis = analyze(measurements, {});
  CHECK_THAT(all_remarks(analysis),
             Contains("of 4 ensembles 1 is more accurate than synchronous training, 2 less accurate, 1 "
                      "without a significant difference"));
  const TextTable table = table_called(tables(analysis), "Ensembles at equal core-seconds");
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0].back() == "ensemble");
  CHECK(table.rows[1].back() == "not significant");
  CHECK(table.rows[3].back() == "synchronous");
  CHECK_THAT(table.rows[3][6], Contains("-15.00 (-15."));
}

TEST_CASE("a run that is in two tables is refused") {
  auto first = runs("sync", 1, {10, 11}), second = runs("sync", 1, {10, 12});
  const auto refused = [&](const std::vector<PublishedTable>& all, std::optional<PublishedTable> again = {}) {
    AnalysisOptions options;
    options.again = std::move(again);
    return error_of([&] { analyze(all, options); });
  };
  const PublishedTable a = table_with(first, "a.csv"), b = table_with(second, "b.csv");
  CHECK(refused({a, b}).empty());  // times may be equal
  CHECK_THAT(refused({a, b, table_with(first, "c.csv")}),
             Contains("two tables are equal: they begin at a.csv:2 and c.csv:2"));
  CHECK_THAT(refused({a}, a), Contains("two tables are equal"));
  first[0].started = second[0].started = "2026-11-22T18:00:00";
  CHECK_THAT(refused({table_with(first, "a.csv"), table_with(second, "b.csv")}),
             Contains("b.csv:2: is the same run as a.csv:2"));
}

TEST_CASE("runs on different datasets are not repeats; of different epochs they may be") {
  const auto table_of = [](const std::string& name, std::vector<Measurement> all, const char* hash,
                           std::int64_t epochs) {
    for (Measurement& run : all) run.dataset_hash = hash, run.epochs = epochs;
    return table_with(all, name);
  };
  const auto one = runs("sync", 1, {10, 11}), other = runs("sync", 1, {10, 12});
  const PublishedTable a = table_of("a.csv", one, "crc32:1", 5), b = table_of("b.csv", other, "crc32:2", 5),
                       unknown = table_of("u.csv", other, "", 0), longer = table_of("l.csv", other, "", 7);
  AnalysisOptions again;
  again.again = b;
  for (const std::string& refusal : {error_of([&] {
                                       analyze(std::vector{a, b}, {});
                                     }),
                                     error_of([&] { analyze(std::vector{a}, again); })}) {
    CHECK_THAT(refusal, Contains("b.csv:2: is a run on another dataset than a.csv:2") &&
                            Contains("(crc32:2 instead of crc32:1)"));
  }
  CHECK(analyze(std::vector{a, unknown}, {}).notices.empty());
  // The table of a sweep over datasets, and a second machine, have configurations of their own.
  PublishedTable varied = b, machine = b;
  for (TableRow& row : varied.rows) row.measurement.variant = "data.path=b.h5";
  for (TableRow& row : machine.rows) row.measurement.machine = "another";
  CHECK(analyze(std::vector{a, varied}, {}).configurations.size() == 2);
  CHECK(analyze(std::vector{a, machine}, {}).configurations.size() == 2);
  CHECK_THAT(analyze(std::vector{a, longer}, {}).notices.at(0),
             Contains("l.csv:2: trained 7 epochs, and a.csv:2 5, with the same name and settings"));
  PublishedTable early = longer;  // in the folder of the same study
  for (TableRow& row : early.rows) row.folder = "a.csv";
  CHECK(analyze(std::vector{a, early}, {}).notices.empty());
}

TEST_CASE("studies whose recipes differ under one name are not analyzed as one") {
  const TemporaryFolder folder;
  const auto study = [&](const std::string& name, const std::string& changes, const std::string& variant) {
    write_file(folder / (name + "/recipes/net.toml"), kTinyRecipe + changes);
    write_file(folder / (name + "/measurements.csv"),
               "system,mode,ranks,variant,seconds\nnet,sync,1," + variant + "," + name.substr(1) + "\n");
    return read_table(folder / (name + "/measurements.csv"));
  };
  const auto refused = [&](const PublishedTable& a, const PublishedTable& b) {
    AnalysisOptions again;
    again.again = b;
    const std::string message = error_of([&] { analyze(std::vector{a, b}, {}); });
    CHECK(error_of([&] { analyze(std::vector{a}, again); }) == message);
    return message;
  };
  const PublishedTable first = study("s10", "epochs = 1\n", "");
  CHECK_THAT(refused(first, study("s11", "epochs = 4\n", "")),
             Contains("s11/recipes/net.toml: is not the recipe ") &&
                 Contains("s10/recipes/net.toml (train.epochs: 1 there, 4 now)"));
  // Keys without an effect on the result or the time; others have one on the time.
  CHECK(refused(first, study("s12", "epochs = 1\ntop_k = 2\n[run]\nthreads = 3\n[log]\ncsv = true\n", ""))
            .empty());
  CHECK_FALSE(refused(first, study("s17", "epochs = 1\n[run]\nshare_memory = false\n", "")).empty());
  // An axis of both studies: no run has the recipe's value. In one study only: no curve is in both.
  const PublishedTable axis = study("s13", "epochs = 1\n", "train.epochs=2");
  CHECK(refused(axis, study("s14", "epochs = 4\n", "train.epochs=2")).empty());
  CHECK(refused(axis, study("s15", "epochs = 4\n", "")).empty());
  // Recipes that are not there, or cannot be read here.
  CHECK(refused(first, study("s16", "file = \"elsewhere.h5\"\n", "")).empty());
}

TEST_CASE("a remark says that no law applies if the speed-up exceeds the number of workers") {
  AnalysisOptions options;
  options.scaling.up_to = 64;
  options.requirements.deadline_seconds = 1;
  const Analysis analysis = analyze(runs("sync", 1, {100, 101}) + runs("sync", 2, {40, 41}), options);
  CHECK_THAT(all_remarks(analysis),
             Contains("net, sync: the speed-up exceeds the number of workers (Amdahl's f would be -0.19"));
  for (const TextTable& table : tables(analysis)) CHECK(table.title != "Amdahl's law");
  CHECK_FALSE(analysis.recommendations.at(0).possible);
}

TEST_CASE("tables that are analyzed as one are studies with repeats of their own") {
  std::vector<PublishedTable> tables;
  for (const double seconds : {10.0, 11.0})
    tables.push_back(table_with(marked(runs("sync", 1, {seconds}), "contended")));
  CHECK(analyze(tables, {}).configurations.at(0).find("makespan_seconds")->mean == 10.5);
}

TEST_CASE("a mean and its interval have digits at any size") {
  CHECK(with_error(10.05, Interval{9.84, 10.26}) == "10.05 ± 0.21");
  CHECK(with_error(3e-7, Interval{2.85e-7, 3.15e-7}) == "3e-07 ± 1.5e-08");
  CHECK(with_error(0.1, Interval{0.1, 0.1 + 1e-16}) == "0.1 ± 0");
  CHECK(number(99999.7) == "100,000");
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(with_error(infinite, Interval{1, infinite}) == "inf");
  CHECK(with_error(1e20, Interval{9e19, 1.1e20}) == "1e+20");
}

TEST_CASE("if more workers take longer, the largest speed-up is that of one") {
  const Analysis analysis =
      analyze(runs("sync", 1, {10, 10.2}) + runs("sync", 2, {12, 12.2}) + runs("sync", 4, {13, 13.2}), {});
  CHECK(table_called(tables(analysis), "Amdahl's law").rows.at(0).back() == "1.0");
}

TEST_CASE("a remark names configurations with only one repeat") {
  CHECK_THAT(all_remarks(analyze(runs("sync", 1, {10}) + runs("sync", 2, {6, 7}), {})),
             Contains("1 of 2 configurations has one row only: no interval or test is possible"));
  CHECK(remarks(analyze(runs("sync", 1, {10, 11}), {})).empty());
}

TEST_CASE("analysis.json is read back unchanged for any analysis") {
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs/results/published"))) {
    if (entry.path().extension() != ".csv") continue;
    CAPTURE(entry.path().filename().string());
    const PublishedTable table = read_table(entry.path());
    const Analysis analysis = analyze(std::span(&table, 1), {});
    const convoke::Settings settings = to_settings(analysis);
    CHECK(convoke::metrics::settings_from_json(convoke::metrics::to_json(settings), "analysis.json") ==
          settings);
    CHECK(!tables(analysis).empty());
  }
  CHECK(tables(analyze(std::span<const Measurement>{}, {})).empty());
}

TEST_CASE("configurations of runs in random order are sorted") {
  const auto shuffled = runs("sync", 8, {1, 1}) + runs("ensemble", 2, {3, 3}, 0.5) +
                        runs("sync", 2, {4, 4}, 0.5) + runs("sync", 2, {5, 5}) + runs("ensemble", 1, {6, 6});
  std::vector<std::string> names;
  for (const MeasuredConfiguration& configuration : analyze(shuffled, {}).configurations)
    names.push_back(run_name(configuration.at));
  CHECK(names == std::vector<std::string>{"net-sync-2x1-p0.5", "net-sync-2x1", "net-sync-8x1",
                                          "net-ensemble-2x1-p0.5", "net-ensemble-1x1"});
}
