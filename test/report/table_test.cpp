
#include "convoke/report/chart.hpp"
#include "support/catch.hpp"

using namespace convoke::report;

TEST_CASE("cells keep the number behind their text") {
  CHECK(Cell::count(60000).text == "60,000");
  CHECK(Cell::count(60000).value == "60000");
  CHECK(Cell::number(0.123456).text == "0.1235");
  CHECK(Cell::percent(0.1234).text == "12.3 %");
  CHECK(Cell::percent(0.1234).value == "12.34");
  for (const double none : {NAN, INFINITY}) {
    CHECK(Cell::number(none).text == "–");
    CHECK(Cell::number(none).value.empty());
  }
}

TEST_CASE("numbers have digits for their steps, and 4 where they suffice") {
  CHECK(digits_for(3, 0.1) == 4);
  CHECK(digits_for(101'400, 4) == 7);
  CHECK(digits_for(1e9, 1e-9) == 12);
  for (const double none : {0.0, -1.0, double{NAN}}) {
    CHECK(digits_for(7, none) == 4);
    CHECK(digits_for(none, 7) == 4);
  }
  CHECK(digits_for(std::vector<double>{NAN, 101'300, 101'400}) == 8);
  CHECK(digits_for(std::vector<double>{5}) == 4);
}

TEST_CASE("tables and charts become HTML, and a chart is drawn from its table") {
  const Table table{{"class", "samples"},
                    {{"a<b", Cell::count(1234)}, {"c", Cell::count(5)}, {"·", Cell::zero()}, {"–", "–"}}};
  CHECK(table.html("a \"b\"") ==
        "<div class=scroll tabindex=0 role=region aria-label=\"a &quot;b&quot;\"><table><thead><tr><th "
        "scope=col>class</th><th scope=col "
        "class=n>samples</th>"
        "</tr></thead><tbody>\n"
        "<tr><th scope=row>a&lt;b</th><td class=n data-v=\"1234\">1,234</td></tr>\n"
        "<tr><th scope=row>c</th><td class=n>5</td></tr>\n"
        "<tr><th scope=row>·</th><td class=\"n z\">0</td></tr>\n"
        "<tr><th scope=row>–</th><td class=n>–</td></tr>\n"
        "</tbody></table></div>\n");
  Chart chart{Chart::Kind::kBar, "Count \"all\"", "", "x", "y", table};
  CHECK_THAT(chart.html(), Contains("aria-label=\"Count &quot;all&quot;: a chart") &&
                               Contains("aria-label=\"The numbers: Count &quot;all&quot;\"") &&
                               Contains(table.html("Count \"all\"")));
}
