#include "report/chart/series_style.hpp"

#include <tuple>

#include "convoke/report/page.hpp"
#include "report/paper/gnuplot.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/skip.hpp"

using namespace convoke::report;

namespace {

Chart lines(const std::vector<std::string>& names) {
  Chart chart{Chart::Kind::kLine, "t", "", "x", "y", {{"x"}, {}}};
  chart.table.columns.insert(chart.table.columns.end(), names.begin(), names.end());
  for (int x = 1; x <= 3; ++x) chart.table.rows.emplace_back(names.size() + 1, Cell::count(x));
  return chart;
}

std::vector<std::string> members(int count) {
  std::vector<std::string> names;
  for (int m = 0; m < count; ++m) names.push_back("member " + std::to_string(m));
  return names;
}

// WCAG 2.1: (brighter + 0.05) / (darker + 0.05), with relative luminances.
double luminance(const std::string& color) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t c = 0; c < 3; ++c) {
    const double value = std::stoi(color.substr(1 + 2 * c, 2), nullptr, 16) / 255.0;
    sum += weights[c] * (value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& a, const std::string& b) {
  const auto [darker, brighter] = std::minmax({luminance(a), luminance(b)});
  return (brighter + 0.05) / (darker + 0.05);
}

}  // namespace

TEST_CASE("a series has the same style in all charts, and no two series of a chart share one") {
  std::vector<Chart> charts{lines({"a", "b"}), lines({"c", "b", "d"}), lines({"d", "a", "e"}), lines({"z"})};
  charts.push_back({Chart::Kind::kScatter, "s", "", "", "", {{"x", "y", "group"}, {}}});
  for (const char* group : {"e", "c", "e"})
    charts.back().table.rows.push_back({Cell::count(1), Cell::count(2), group});
  const SeriesStyles styles(charts);
  std::map<std::string, SeriesStyle> known;
  for (const Chart& chart : charts) {
    const std::vector<std::string> names = chart.names();
    const std::vector<SeriesStyle> of = styles.of(chart);
    REQUIRE(of.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      CHECK(known.try_emplace(names[i], of[i]).first->second == of[i]);
      CHECK(std::count(of.begin(), of.end(), of[i]) == 1);
      CHECK(of[i].number < 4);  // no more styles than necessary
    }
  }
}

TEST_CASE("a related series has the color of the other one, hollow, unless that style is taken") {
  Chart chart = lines({"a (marked)", "a", "b", "b, oversubscribed", "a, oversubscribed"});
  chart.apart = {{"a (marked)", "a"}, {"b, oversubscribed", "b"}, {"a, oversubscribed", "a"}};
  const std::vector<SeriesStyle> of = SeriesStyles({&chart, 1}).of(chart);
  CHECK(of[0] == SeriesStyle{0, true});
  CHECK(of[1] == SeriesStyle{0, false});
  CHECK(of[2] == SeriesStyle{1, false});
  CHECK(of[3] == SeriesStyle{1, true});
  CHECK(of[4] == SeriesStyle{2, true});
  Chart alone = lines({"1 rank", "4 ranks, oversubscribed"});  // there is no other series of 4 ranks
  alone.apart = {{"4 ranks, oversubscribed", "4 ranks"}};
  CHECK(SeriesStyles({&alone, 1}).of(alone) == std::vector<SeriesStyle>{{0, false}, {1, true}});
}

TEST_CASE("channels of a histogram have their own color") {
  Chart chart = lines({"red", "green", "blue", "other"});
  chart.kind = Chart::Kind::kHistogram;
  std::vector<std::string> colors;
  for (const SeriesStyle& style : SeriesStyles({&chart, 1}).of(chart))
    colors.emplace_back(style.tone().on_light);
  for (std::size_t c = 0; c < 3; ++c) {
    const auto part = [&](std::size_t which) {
      return std::stoi(colors[c].substr(1 + 2 * which, 2), nullptr, 16);
    };
    CHECK(part(c) == std::max({part(0), part(1), part(2)}));
  }
  CHECK(std::set(colors.begin(), colors.end()).size() == 4);
}

TEST_CASE("all colors have a contrast of 3:1 on their background") {
  if (!has_charts()) return skip("Chart.js was not installed when this was built");
  const std::string html = Page("t", "").html();
  const std::vector<Match> cards = all_matches(html, "--card: (#[0-9a-f]{6})");
  REQUIRE(cards.size() == 2);
  for (const Tone& tone : kPalette) {
    CAPTURE(tone.on_light, tone.on_dark);
    CHECK(contrast(tone.on_light, "#ffffff") >= 3);
    CHECK(contrast(tone.on_light, cards[0][1]) >= 3);
    CHECK(contrast(tone.on_dark, cards[1][1]) >= 3);
  }
}

TEST_CASE("the script of a page contains all labels and styles, for any names") {
  if (!has_charts()) return skip("Chart.js was not installed when this was built");
  Page page("t", "");
  page.add(lines({"</script>\"\\\n"}));
  CHECK_THAT(page.html(), Contains("{\"label\":\"\\u003c/script>\\\"\\\\ \",") &&
                              Contains("\"colors\":[\"#004488\",\"#5b9be6\"],\"mark\":\"circle\""));
}

TEST_CASE("many lines in a paper all differ in color, dash or mark") {
  Chart chart = lines(members(24));
  chart.table.columns.push_back("member 0, contended");
  for (auto& row : chart.table.rows) row.push_back(Cell::count(1));
  chart.apart["member 0, contended"] = "member 0";
  const std::string script = gnuplot_script({chart, SeriesStyles({&chart, 1}).of(chart)}).commands;
  const std::string style("with linespoints lc rgb '(#[0-9a-f]+)' lw 1.2 (dt [^ ]+) pt ([0-9]+)");
  std::set<std::tuple<std::string, std::string, std::string>> styles;
  std::set<std::string> colored_marks;
  for (const Match& found : all_matches(script, style)) {
    styles.emplace(found[1], found[2], found[3]);
    colored_marks.insert(found[1] + found[3]);
  }
  CHECK(styles.size() == 25);
  CHECK(colored_marks.size() == 25);  // color and mark are enough, if lines are steep
}
