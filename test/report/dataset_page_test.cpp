#include "convoke/report/dataset_page.hpp"

#include "called.hpp"
#include "example_pages.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

using namespace convoke;

namespace {

report::Chart chart_of(const explore::Inspection& found, const std::string& title) {
  return called(report::dataset_page(found, "made by a test").charts(), title);
}

}  // namespace

TEST_CASE("findings name problems to solve before training") {
  const TemporaryFolder folder;
  const explore::Inspection found = example::inspection(example::table(folder.path()));
  const std::vector<std::string> findings = report::findings(found);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0] == "Split test has no samples of 1 of 4 classes: 鳥.");
  CHECK(findings[1] == "1 of the 40 samples of test are also in train.");
  CHECK(report::imbalance(found) == 1);
}

TEST_CASE(
    "bin edges, means and moments show their spread, however large; a class without samples has no mean") {
  const TemporaryFolder folder;
  explore::Inspection found = example::inspection(example::signals(folder.path()));
  for (double& mean : found.survey.class_means.values) mean += 101'325;
  found.survey.histograms[0].begin = 101'325;
  found.survey.histograms[0].width = 0.5;
  found.survey.splits[0].channels[0] = {100, 101'325.25, 0.5, 101'320, 101'330};
  found.survey.splits[0].class_counts[1] = 0;
  CHECK(chart_of(found, "Values of feature 0").table.rows[1][0].text == "101325.5");
  CHECK(chart_of(found, "Values by feature").y_title == "standard deviations");
  const report::Table means = chart_of(found, "Mean of feature 0 over time, by class").table;
  REQUIRE(means.columns ==
          std::vector<std::string>{"step", example::kNames[0], example::kNames[2], example::kNames[3]});
  CHECK_THAT(means.rows[7][2].as_double(), WithinAbs(found.survey.class_means(2, 7 * 2), 1e-3));
  const report::Page page = report::dataset_page(found, "made by a test");
  const report::Table& values = called(page.tables(), "Values").table;
  const auto row = std::ranges::find(values.rows, "feature 0", [](const auto& r) { return r[0].text; });
  REQUIRE(row != values.rows.end());
  CHECK((*row)[2].text == "101325.25");
}

TEST_CASE("box plots of large values show their spread") {
  const TemporaryFolder folder;
  explore::Inspection found = example::inspection(example::images(folder.path()));
  for (explore::BoxPlot& box : found.survey.brightness)
    box = {20, 101'320, 101'321, 101'322, 101'325.5, 101'327, 101'328, 101'330};
  CHECK(chart_of(found, "Brightness by class").table.rows[0][4].as_double() == 101'325.5);
}

TEST_CASE("maps have a color for each of the 20 classes with most training samples") {
  const TemporaryFolder folder;
  explore::Inspection found = example::inspection(example::table(folder.path()));
  found.info.classes = 24;
  found.info.class_names.clear();
  for (auto& split : found.survey.splits)
    split.class_counts.resize(24, 100);  // more than the first four have
  std::ranges::fill(found.comparison.labels, 23);
  found.comparison.labels[0] = 3;
  const report::Table map = chart_of(found, "Principal components").table;
  CHECK(map.rows[0][2].text == "other classes");
  CHECK(map.rows[1][2].text == "23");
}

TEST_CASE("a page of each kind contains its pictures and charts with their tables, and needs no network") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  for (const auto& [file, charts] : {std::pair(example::images(folder.path()), 9),
                                     {example::texts(folder.path()), 10},
                                     {example::table(folder.path()), 12},
                                     {example::signals(folder.path()), 10}}) {
    CAPTURE(file);
    const explore::Inspection found = example::inspection(file);
    const std::string page = report::dataset_page(found, "made by a test").html();
    const int maps = found.kind() == "images" ? 1 : 0;
    CHECK(times(page, "<canvas ") == charts + maps);
    CHECK(times(page, "<figure class=heat>") == maps);
    CHECK(times(page, "<h3>Normality</h3>") == (found.kind() == "tokens" ? 0 : 1));
    CHECK(times(page, "Reconstruction error</figcaption>") == (found.kind() == "tokens" ? 0 : 1));
    CHECK(times(page, ">Edges and gradients</h2>") == maps);
    CHECK(times(page, "<details>") == charts);
    CHECK((times(page, "<img ") > 0) == (found.kind() == "images"));
    CHECK(times(page, "<img src=\"data:image/") == times(page, "<img "));
    CHECK(times(page, "src=\"http") + times(page, "href=\"http") + times(page, "@import") == 0);
    CHECK_THAT(page, Contains("&lt;b&gt;cat&lt;/b&gt;") && Contains("Stra\xEF\xBF\xBD"
                                                                    "enbahn &amp; &quot;co&quot;"));
    CHECK(times(page, "<b>cat") == 0);
    explore::Inspection again = example::inspection(file);
    CHECK(report::dataset_page(again, "made by a test").html() == page);
    if (found.kind() != "images") continue;
    CHECK(times(page, "Sizes of the encoded pictures") == 0);
    std::vector<float> kilobytes{1.5F, 2, 2, 7};
    again.encoded = explore::Extent{"kB", explore::box_plot(kilobytes), explore::histogram(kilobytes, 4)};
    CHECK_THAT(report::dataset_page(again, "made by a test").html(),
               Contains(">Sizes of the encoded pictures</h2>") && Contains("kB from"));
  }
}
