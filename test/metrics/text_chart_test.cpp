#include "convoke/metrics/text_chart.hpp"

#include "support/catch.hpp"

using convoke::metrics::Curve;
using convoke::metrics::text_chart;

TEST_CASE("curves are drawn between their extremes, later ones over earlier ones") {
  const std::vector<Curve> curves{{"training", '*', {{1, 4}, {2, 2}, {3, 0}}},
                                  {"validation", 'o', {{3, 0}, {1, 2}}}};
  CHECK(text_chart("loss", curves, 21, 3) ==
        "loss   * training   o validation\n"
        "       4 |*\n"
        "         |o    *\n"
        "       0 |          o\n"
        "          1         3\n");
}

TEST_CASE("one point, equal values and values that are not numbers") {
  CHECK(text_chart("loss", {{"a", '*', {{1, 2.5}}}}, 20, 3) ==
        "loss   * a\n     2.5 |\n         |\n     2.5 |*\n          1        1\n");
  CHECK(text_chart("loss", {{"a", '*', {{1, NAN}}}, {"b", 'o', {}}}, 40, 5).empty());
  CHECK(text_chart("loss", {}, 40, 5).empty());
  CHECK_THAT(text_chart("loss", {{"a", '*', {{1, 1}, {2, NAN}}}, {"b", 'o', {{1, NAN}}}}, 40, 5),
             !Contains("o b"));
}
