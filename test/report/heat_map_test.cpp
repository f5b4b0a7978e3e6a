#include "convoke/report/heat_map.hpp"

#include "called.hpp"
#include "convoke/os/process.hpp"
#include "convoke/report/figures.hpp"
#include "example_pages.hpp"
#include "example_runs.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

using namespace convoke;
using namespace convoke::report;

namespace {

HeatMap small() {
  return {.title = "A map",
          .row_title = "true class",
          .column_title = "predicted",
          .unit = "samples",
          .rows = {"ant, red", "bee"},
          .columns = {"x", "y", "z"},
          .cells = {{0, 1, 12, 1}, {1, 2, 0.25, -0.5}}};
}

}  // namespace

TEST_CASE("a heat map is a canvas with a name and buttons, its numbers, and a table of its cells") {
  CHECK_THAT(small().html(), Contains("tabindex=0") && Contains("A map: 2 by 3 cells") &&
                                 Contains("data-zoom=in") && !Contains("onclick"));
  const Settings settings = small().settings();
  CHECK(settings.find("cells")->to_string() == "[0, 1, 12.0, 1.0, 1, 2, 0.25, -0.5]");
  CHECK(small().table().csv() == "true class,predicted,samples\n\"ant, red\",y,12\nbee,z,0.25\n");
}

TEST_CASE("the page of a run of 525 classes has all cells, the frequent confusions, and no open script") {
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 1, 1, 8);
  RunRecord run = read_run(folder / "run");
  example::set_many_classes(run, 40);  // few classes have a table instead
  CHECK(run_page(run, "").heat_maps().empty());
  if (has_charts()) CHECK(times(run_page(run, "").html(), "heat-maps") == 0);

  example::set_many_classes(run, 525);
  const Page page = run_page(run, "");
  REQUIRE(page.heat_maps().size() == 1);
  const HeatMap& map = page.heat_maps().front();
  CHECK(map.rows.size() == 525);
  REQUIRE(map.cells.size() == 2 * 525);
  CHECK(std::is_sorted(map.cells.begin(), map.cells.end(), [](const auto& a, const auto& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  }));
  double samples = 0, wrong = 0;
  for (const HeatMap::Cell& cell : map.cells) {
    samples += cell.value;
    if (cell.row != cell.column) wrong += cell.value;
    CHECK((cell.shade > 0) == (cell.row == cell.column));
    CHECK(std::abs(cell.shade) > 0.2);  // a single sample is visible
    CHECK(std::abs(cell.shade) <= 1);
  }
  CHECK(samples == 5 * 525);
  CHECK(wrong == 525);

  CHECK(called(page.tables(), "Most frequent confusions").table.rows.size() == 40);
  if (!has_charts()) return skip("no Chart.js (Debian package libjs-chart.js)");
  const std::string html = page.html();
  CHECK(times(html, "<script") == times(html, "</script>"));  // class names do not end a script
  CHECK(times(html, "id=heat-maps") == 1);
  CHECK_THAT(html, Contains("bird \\u003c/script> 524"));
}

TEST_CASE("a heat map is a figure of a paper: SVG, PDF, and CSV of its cells") {
  const TemporaryFolder folder;
  const FiguresWritten written = write_figures({}, {}, folder.path(), {}, std::vector{small()});
  CHECK(bytes_of(folder / "a-map.csv") == small().table().csv());
  if (!os::find_program("gnuplot")) return skip("no gnuplot (Debian package gnuplot-nox)");
  CHECK(written.files.size() == 3);
  const std::string svg = bytes_of(folder / "a-map.svg");
  CHECK_THAT(svg, Contains("<title>A map</title>") && Contains(">true class<") && Contains(">bee<") &&
                      Contains("image-rendering:pixelated"));
  CHECK(bytes_of(folder / "a-map.pdf").starts_with("%PDF"));
}
