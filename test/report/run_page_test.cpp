#include "convoke/report/run_record.hpp"

#include "called.hpp"
#include "convoke/core/error.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/report/comparison.hpp"
#include "example_pages.hpp"
#include "example_runs.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

using namespace convoke;

namespace {

std::string page_of(const fs::path& folder) {
  return report::run_page(report::read_run(folder), "made by a test").html();
}

}  // namespace

TEST_CASE("the page of a run has every section, escaped names, and pictures of mistakes") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 3, 2, 4.5);
  const std::string page = page_of(folder / "run");
  for (const char* section :
       {"Overview", "Training", "Members", "Classes", "Worst mistakes", "Calibration", "Time", "Setup"}) {
    CAPTURE(section);
    CHECK_THAT(page, Contains("<h2>" + std::string(section) + "</h2>"));
  }
  CHECK_THAT(page, Contains("<h1>tiny &lt;net&gt;</h1>") && !Contains("<net>"));
  CHECK_THAT(page, Contains("&lt;b&gt;cat&lt;/b&gt;") && !Contains("<b>cat"));
  CHECK(times(page, "<img src=\"data:image/") == 4);
  CHECK_THAT(page, Contains("elected a class with a name that is much too long"));
  CHECK_THAT(page, Contains("90.00 %") && Contains("0.0321") && Contains("93,322"));
  CHECK_THAT(page, Contains("mpirun -n 2 convoke train"));
  CHECK_THAT(page, Contains("Size of cached features") && Contains("3.0 MiB") && Contains("1 min 15 s"));
  CHECK_THAT(page, Contains("Training steps by rank") && Contains("12.3 %"));
  CHECK_THAT(page, Contains("Rank 1 on node-7 is slower than the others: data: assembling its samples took"));
  CHECK(times(page, "<canvas ") == 14);
  CHECK(times(page, ">The numbers</summary>") == 14);
  CHECK(times(page, "src=\"http") + times(page, "href=\"http") + times(page, "@import") == 0);
  CHECK(page_of(folder / "run") == page);
  CHECK_THAT(page, !Contains("Emulated:"));
  const auto file = folder / "run/summary.json";
  Settings summary = metrics::read_json(file).value();
  summary.set("as_if", true);  // the name of "emulated" in earlier versions
  summary.set("epochs", 200);
  std::ofstream(file) << metrics::to_json(summary);
  CHECK_THAT(page_of(folder / "run"), Contains("Emulated: a study trained the members one after another") &&
                                          Contains("3 of 200"));  // epochs, after early stopping
}

TEST_CASE("a mistake with maps is one picture of three") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 1, 1, 4.5);
  report::RunRecord run = report::read_run(folder / "run");
  const std::vector<report::WorstMistake> mistakes = report::worst_mistakes(run);
  REQUIRE(mistakes.size() == 4);
  CHECK(mistakes[1].sample == 1);
  CHECK(mistakes[1].truth == 1);
  CHECK(mistakes[1].decision == 0);
  const report::Picture before =
      report::run_page(run, "made by a test").galleries().at(0).figures.at(1).picture;
  run.maps[1] = {.predicted = {1, 1, {0}}, .truth = {1, 1, {1}}};
  run.mapped_node = "relu_7";
  const report::Page page = report::run_page(run, "made by a test");
  CHECK_THAT(page.html(), Contains("the output of relu_7"));
  const std::vector<report::Figure>& figures = page.galleries().at(0).figures;
  CHECK(figures.at(0).picture.width == before.width);
  const report::Picture& shown = figures.at(1).picture;
  CHECK(shown.width == 3 * before.width + 2 * 2);
  const auto at = [&](std::int64_t x) { return shown.pixels[static_cast<std::size_t>(3 * x)]; };
  CHECK(at(0) == before.pixels[0]);
  CHECK(at(before.width + 2) == before.pixels[0]);  // a map of 0
  CHECK(at(2 * (before.width + 2)) > before.pixels[0]);
}

TEST_CASE("mistakes are listed if the samples cannot be shown, with the reason") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  const fs::path dataset = example::images(folder.path());
  example::write_run(folder / "run", dataset, 1, 1, 4.5);
  fs::rename(dataset, folder / "elsewhere.h5");
  CHECK_THAT(page_of(folder / "run"), Contains("cannot be shown: ") && Contains("images.h5") &&
                                          Contains("<th scope=row>test 0</th>") && !Contains("<img "));
  fs::rename(example::table(folder.path()), dataset);
  CHECK_THAT(page_of(folder / "run"), Contains("other samples than those of the run&#39;s test"));
}

TEST_CASE("mistakes of a model that predicts a number have its output, not a percentage") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::table(folder.path()), 1, 1, 4.5);
  report::RunRecord run = report::read_run(folder / "run");
  run.evaluation.set("mistakes", Value::Array{Settings{{"sample", 5},
                                                       {"truth", 3},
                                                       {"output", 0.625},
                                                       {"votes", Value::Array{1}},
                                                       {"outputs", Value::Array{0.625}},
                                                       {"elected", Value::Array{1, 1}}}});
  CHECK_THAT(report::run_page(run, "").html(), Contains("is farthest from the model&#39;s output") &&
                                                   Contains("\u00a0(0.625)") && !Contains("least probable"));
}

TEST_CASE("mistakes on texts and numbers are shown as texts and numbers") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_run(folder / "texts", example::texts(folder.path()), 1, 1, 4.5);
  CHECK_THAT(page_of(folder / "texts"), Contains("<th scope=col>text</th>") && Contains("word"));
  example::write_run(folder / "table", example::table(folder.path()), 1, 1, 4.5);
  CHECK_THAT(page_of(folder / "table"), Contains("<th scope=col>values</th>"));
}

TEST_CASE("the page of a run says if its program was not a release build") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_unfinished(folder / "run", 1, 1);
  const auto with_type = [&](const char* type) {
    report::RunRecord run = report::read_run(folder / "run");
    if (*type != '\0') run.environment.set("build_type", type);
    return report::run_page(run, "").html();
  };
  CHECK_THAT(with_type("RelWithDebInfo, with assertions"),
             Contains("Not a release: the program was built as &quot;RelWithDebInfo, with assertions&quot;"));
  CHECK_THAT(with_type("Release"), !Contains("Not a release") && Contains("Build type</th><td>Release<"));
  CHECK_THAT(with_type(""), !Contains("Not a release"));
}

TEST_CASE("the page of an incomplete run shows the existing parts, with a warning") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_unfinished(folder / "run", 2, 2);
  std::ofstream(folder / "run/metrics.jsonl", std::ios::app) << "{\"event\": \"epo";
  std::ofstream(folder / "run/status.json") << "{\"epoch\": 4";
  const std::string page = page_of(folder / "run");
  CHECK_THAT(page, Contains("class=warning") && Contains("This run is not complete"));
  CHECK_THAT(page,
             Contains("<h2>Training</h2>") && Contains("<h2>Setup</h2>") && !Contains("<h2>Classes</h2>"));
  CHECK(times(page, "<canvas ") > 3);
}

TEST_CASE("the page warns of threads that shared cores, and the repeat command oversubscribes too") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 3, 4, 4.5);
  report::RunRecord run = report::read_run(folder / "run");
  const auto page = [&] { return report::run_page(run, "").html(); };
  CHECK_THAT(page(), !Contains("versubscribe") && !Contains("OVERSUBSCRIBED"));  // a run of 0.1: unknown

  const auto loud = [&] {
    const std::string html = page();
    CHECK_THAT(html, Contains("class=warning role=note>Oversubscribed: 4 worker threads shared 2 cores") &&
                         Contains("4 ranks x 1 thread on 2 cores [OVERSUBSCRIBED]") &&
                         Contains("mpirun -n 4 --oversubscribe convoke train"));
  };
  run.summary.set("all_threads", 4);
  run.summary.set("cores", 4);
  CHECK_THAT(page(), !Contains("versubscribe") && !Contains("OVERSUBSCRIBED"));
  run.summary.set("cores", 2);
  loud();
  CHECK_THAT(page(), Contains("<dd>2, shared</dd>"));

  run.summary = {};  // unfinished
  run.environment.set("cores", 1);
  run.environment.set("nodes", 2);
  loud();
}

TEST_CASE("a class that is never predicted has no precision, and a class without samples has no recall") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 1, 1, 4.5);
  report::RunRecord run = report::read_run(folder / "run");
  // Three samples of a and two of b, all predicted as a except one of a as c, which has no samples; d does
  // not occur.
  run.evaluation.set("classes", 4);
  run.evaluation.set("class_names", Value::Array{"a", "b", "c", "d"});
  run.evaluation.set("confusion",
                     Value::Array{Value::Array{0, 0, 2}, Value::Array{0, 2, 1}, Value::Array{1, 0, 2}});
  run.evaluation.set("class_scores", Settings{{"precision", Value::Array{0.5, 0.0, 0.0, 0.0}},
                                              {"recall", Value::Array{2.0 / 3, 0.0, 0.0, 0.0}},
                                              {"f1", Value::Array{4.0 / 7, 0.0, 0.0, 0.0}},
                                              {"support", Value::Array{3, 2, 0, 0}}});
  run.evaluation.set("mistakes", Value::Array{});
  const report::Page page = report::run_page(run, "");
  CHECK(
      called(page.tables(), "Scores of each class").table.csv() ==
      "class,precision (%),recall (%),F1 (%),samples\na,50,66.6667,57.1429,3\nb,,0,0,2\nc,0,,0,0\nd,,,,0\n");
  CHECK(called(page.charts(), "Errors by class").table.csv() ==
        "class,missed (%),false (%)\na,33.3333,50\nb,100,\nc,,100\nd,,\n");
  CHECK_THAT(page.html(), Contains("Never predicted: b, d.") && Contains("Without test samples: c, d."));
  CHECK_THAT(page_of(folder / "run"), !Contains("Never predicted") && !Contains("Without test samples"));
}

TEST_CASE("an ensemble's page says which scores belong to the vote, and which to the mean probabilities") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  const fs::path dataset = example::images(folder.path());
  example::write_run(folder / "votes", dataset, 3, 1, 4.5);
  const std::string page = page_of(folder / "votes");
  for (const char* part :
       {"<dt>Test accuracy, majority vote</dt>", "<dt>F1 (weighted), majority vote</dt>",
        "<dt>Calibration error (ECE), mean probabilities</dt>",
        "a column for each class that the majority vote predicts",
        "<p>Scores of the classes that the majority vote predicts.</p>",
        "<dt>Expected calibration error, mean probabilities</dt>",
        "<dt>Maximum calibration error, mean probabilities</dt>",
        "least probable by the mean of the members&#39; probabilities, and was not elected by the majority "
        "vote"}) {
    CAPTURE(part);
    CHECK_THAT(page, Contains(part));
  }
  const report::Page pages = report::run_page(report::read_run(folder / "votes"), "");
  CHECK(called(pages.tables(), "Disagreement").table.csv() ==
        "member,0 (%),2 (%),4 (%)\nmember 0,,12.5,12.5\nmember 2,12.5,,12.5\nmember 4,12.5,12.5,\n");
  CHECK(called(pages.tables(), "Q statistic").table.csv() ==
        "member,0,2,4\nmember 0,,0.875,\nmember 2,0.875,,\nmember 4,,,\n");
  CHECK_THAT(page, !Contains("Soups"));
  report::RunRecord with_soup = report::read_run(folder / "votes");
  Settings tested = *with_soup.summary.find("test")->table();
  tested.set(
      "soups",
      Value::Array{Settings{
          {"soup", "greedy"}, {"shares", Value::Array{0.5, 0.0, 0.5}}, {"accuracy", 0.95}, {"loss", 0.25}}});
  with_soup.summary.set("test", tested);
  CHECK(called(report::run_page(with_soup, "").tables(), "Soups").table.csv() ==
        "soup,test accuracy (%),test loss,member 0 (%),member 2 (%),member 4 (%)\ngreedy,95,0.25,50,0,50\n");
  CHECK(called(pages.tables(), "Members").table.columns[3] == "ECE");
  with_soup.evaluation.set("member_calibration", Value::Array{});  // as if the output were a number
  CHECK(called(report::run_page(with_soup, "").tables(), "Members").table.columns[3] != "ECE");
  example::write_run(folder / "one", dataset, 1, 1, 4.5);
  CHECK_THAT(page_of(folder / "one"), Contains("<dt>Test accuracy</dt>") && !Contains("majority vote") &&
                                          !Contains("mean probabilities"));
}

TEST_CASE("validations within an epoch are at their position in the epoch") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_unfinished(folder / "run", 1, 1);
  const std::string before = page_of(folder / "run");
  CHECK_THAT(before, !Contains("0.42424"));
  std::ofstream(folder / "run/metrics.jsonl", std::ios::app)
      << R"({"event": "validation", "member": 0, "epoch": 2, "step": 15, "validation_loss": 0.42424})"
      << '\n';
  const std::string page = page_of(folder / "run");
  CHECK_THAT(page, Contains(">1.5</th><td class=n>–</td>") && Contains("0.42424"));
  CHECK(times(page, "<tr>") == times(before, "<tr>") + 1);
}

TEST_CASE("the loss by step is a chart; many steps are averaged, and repeated ones count once") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  example::write_unfinished(folder / "run", 2, 1);
  const auto chart_of = [&](int steps) {
    std::ofstream log(folder / "run/metrics.jsonl", std::ios::app);
    for (int step = 1; step <= steps; ++step) {
      log << R"({"event":"step","member":2,"epoch":1,"step":)" << step << R"(,"loss":)" << step + 0.5
          << "}\n";
    }
    log.close();
    const report::Page page = report::run_page(report::read_run(folder / "run"), "made by a test");
    const auto named = std::find_if(page.charts().begin(), page.charts().end(),
                                    [](const report::Chart& chart) { return chart.title == "Loss by step"; });
    return named == page.charts().end() ? report::Table() : named->table;
  };
  CHECK(chart_of(0).rows.empty());
  const report::Table few = chart_of(3);
  CHECK(few.columns == std::vector<std::string>{"step", "training"});
  REQUIRE(few.rows.size() == 3);
  CHECK(few.rows[2][0].text == "3");
  CHECK(few.rows[2][1].as_double() == 3.5);
  const report::Table many = chart_of(1001);  // three steps a point
  REQUIRE(many.rows.size() == 334);
  CHECK(many.rows[0][0].text == "3");
  CHECK(many.rows[0][1].as_double() == 2.5);
  CHECK(many.rows[333][1].as_double() == 1001);
}

TEST_CASE("a page of very many members shows their ends and the middle, not all of them") {
  const TemporaryFolder folder;
  constexpr std::int64_t kMembers = 100;
  example::write_unfinished(folder / "run", kMembers, 2);
  report::RunRecord run = report::read_run(folder / "run");
  Value::Array tested, facts, calibrations;
  for (std::int64_t m = 0; m < kMembers; ++m) {  // member 2 m is right on m of 100 samples
    facts.emplace_back(Settings{{"member", 2 * m}});
    tested.emplace_back(
        Settings{{"member", 2 * m}, {"accuracy", static_cast<double>(m) / 100}, {"loss", 1.0}});
  }
  run.summary = {{"name", "many"},
                 {"member_facts", std::move(facts)},
                 {"test", Settings{{"members", std::move(tested)}}}};
  const report::Page page = report::run_page(run, "made by a test");
  const report::Table& losses = called(page.charts(), "Loss, training").table;
  CHECK(losses.columns == std::vector<std::string>{"epoch", "lowest of 100 members", "median", "highest"});
  REQUIRE(losses.rows.size() == 3);  // the loss of member 2 m in epoch e is 1 / (e + m)
  CHECK(losses.rows[0][1].as_double() == Approx(1.0 / 100).epsilon(1e-4));
  CHECK(losses.rows[0][2].as_double() == Approx((1.0 / 50 + 1.0 / 51) / 2).epsilon(1e-4));
  CHECK(losses.rows[0][3].as_double() == 1);
  const report::Table& errors = called(page.charts(), "Error of members and of their vote").table;
  REQUIRE(errors.rows.size() == 3);
  CHECK(errors.rows[0][0].text == "member 198");
  CHECK(errors.rows[2][0].text == "member 0");
  const std::string html = page.html();
  CHECK_THAT(html, Contains("The 16 best and the 16 worst of 100 members"));
  CHECK_THAT(html, Contains("member 168"));
  CHECK_THAT(html, !Contains("member 166"));
  CHECK_THAT(html, !Contains("member 32<"));
  CHECK_THAT(html, Contains("member 30<"));
}

TEST_CASE("folders without a run and damaged files are refused with their name") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(report::read_run(folder / "none"), Contains("none: is not a run folder"));
  example::write_unfinished(folder / "run", 1, 1);
  std::ofstream(folder / "run/summary.json") << "{\"ranks\": ";
  CHECK_THROWS_WITH(report::read_run(folder / "run"), Contains("summary.json"));
  fs::remove(folder / "run/summary.json");
  std::ofstream(folder / "run/metrics.jsonl", std::ios::app) << "not JSON\n";
  CHECK_THROWS_WITH(report::read_run(folder / "run"), Contains("metrics.jsonl:4"));
}

TEST_CASE("runs are compared: results, curves, speed-up and differences") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  const fs::path dataset = example::images(folder.path());
  example::write_run(folder / "one", dataset, 1, 1, 8);
  example::write_run(folder / "two", dataset, 1, 2, 5);
  example::write_run(folder / "votes", dataset, 2, 2, 4);
  example::write_unfinished(folder / "begun", 1, 1);
  std::vector<report::RunRecord> runs;
  for (const char* name : {"one", "two", "votes", "begun"}) {
    runs.push_back(report::read_run(folder / name));
    runs.back().recipe = Settings{
        {"name", name}, {"train", Settings{{"epochs", 3}, {"batch", name == std::string("two") ? 64 : 32}}}};
  }
  const std::string page = report::comparison_page(runs, "made by a test").html();
  CHECK_THAT(page, Contains("begun is not complete"));
  CHECK_THAT(page, Contains("1.60 x") && Contains("2.00 x") && Contains("80.0 %") && Contains("100.0 %"));
  CHECK_THAT(page, Contains("Verdict: ") && Contains("so it may be chance"));
  CHECK_THAT(page, Contains("The runs differ in train.batch, so their speed-up compares different work."));
  CHECK_THAT(page, Contains("<th scope=row>train.batch</th><td>32</td><td>64</td><td>32</td><td>32</td>"));
  CHECK_THAT(page, !Contains("<th scope=row>train.epochs</th>"));
  CHECK_THAT(page, Contains("<th scope=row>Ranks</th><td>1</td><td>2</td><td>2</td><td>1</td>"));
  CHECK_THAT(page, Contains("aria-label=\"Speed-up: a chart") &&
                       Contains("aria-label=\"Efficiency: a chart") &&
                       Contains("aria-label=\"Validation loss: a chart"));

  // Verdicts name runs as the table does; runs whose threads shared cores are marked everywhere.
  runs[1].summary.set("cores", 1);
  runs[1].summary.set("all_threads", 2);
  runs[2].evaluation.set("content_hash", "others");
  example::write_run(folder / "again", dataset, 2, 2, 4);
  runs.push_back(report::read_run(folder / "again"));
  const report::Page marked = report::comparison_page(runs, "");
  const std::string html = marked.html();
  CHECK_THAT(html,
             Contains("class=warning role=note>two: synchronous, 2 x 1 [OVERSUBSCRIBED]: 2 worker threads "
                      "shared 1 core") &&
                 Contains("class=warning role=note>The runs were tested on different samples"));
  CHECK_THAT(
      html,
      Contains(
          "No verdict: votes: ensemble of 2, 2 x 1: there is no synchronous run on equally many cores (2)."));
  CHECK(called(marked.tables(), "Side by side").table.columns ==
        std::vector<std::string>{"result", "one: synchronous, 1 x 1",
                                 "two: synchronous, 2 x 1 [OVERSUBSCRIBED]", "votes: ensemble of 2, 2 x 1",
                                 "again: ensemble of 2, 2 x 1"});
  CHECK_THAT(html, Contains(">synchronous (oversubscribed)</th>"));

  // The times of a resumed run are left out; here it is the first, so there is no speed-up.
  runs[0].summary.set("resumed", true);
  CHECK_THAT(report::run_page(runs[0], "").html(), Contains("role=note>Resumed: the times"));
  CHECK_THAT(report::comparison_page(runs, "").html(),
             Contains("its times are only those since it was resumed, so this page leaves them out.") &&
                 Contains("aria-label=\"Where the time went: a chart") &&
                 !Contains("aria-label=\"Speed-up: a chart") && !Contains("so their speed-up compares"));

  // Runs with the same title are named by their folders.
  const std::vector<report::RunRecord> alike{runs[0], runs[0], report::read_run(folder / "one")};
  CHECK_THAT(report::comparison_page(alike, "").html(), Contains("3. one: synchronous, 1 x 1"));
}

TEST_CASE("ROC curves are a chart with a line of chance, and their areas a table") {
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 1, 1, 8);
  report::RunRecord run = report::read_run(folder / "run");
  const report::Page page = report::run_page(run, "");
  const report::Table& curves = called(page.charts(), "ROC curves").table;
  CHECK(curves.columns.size() == 5);  // false alarms, two classes, the mean, chance
  CHECK(curves.rows[1][1].as_double() == 50);
  CHECK(curves.rows[1][4].as_double() == 25);
  // 0.25 (0.25 + 0.5) / 2 + 0.75 (0.5 + 1) / 2
  CHECK(called(page.tables(), "Areas under the curves").table.rows.front()[1].as_double() ==
        Approx(0.65625).epsilon(1e-3));

  run.evaluation.set("class_names", Value::Array{"mean", "chance", "c", "d"});
  const report::Page alike = report::run_page(run, "");
  CHECK(called(alike.charts(), "ROC curves").table.columns ==
        std::vector<std::string>{"false positive rate", "mean", "chance", "mean (no class)",
                                 "chance (no class)"});

  run.evaluation.set("roc", Settings{});
  const report::Page without = report::run_page(run, "");
  CHECK(std::none_of(without.charts().begin(), without.charts().end(),
                     [](const report::Chart& each) { return each.title == "ROC curves"; }));
}
