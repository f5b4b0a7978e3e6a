#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/page.hpp"

// A chart of every kind with its difficult cases, and tables.

namespace example {

using convoke::report::Cell;
using convoke::report::Chart;
using convoke::report::NamedTable;
using convoke::report::Table;

/// Text that no output format may interpret.
inline const std::string kHostile =
    "100% of <b>\\textbf{it}</b> isn't \"$x_1^2\" & `touch hostile` #1 ~{a} 鳥\n[*] \xDF";

inline Chart speed_up() {
  Chart chart{Chart::Kind::kLine,
              "Speed-up",
              "Whiskers: 95 % of Student's t.",
              "ranks",
              "speed-up",
              {{"ranks", "synchronous", "from", "to", "ensemble", "from", "to", "ideal"}, {}}};
  for (const int n : {1, 2, 3, 4, 6, 8}) {
    const double sync = n / (1 + 0.06 * (n - 1)), ensemble = n / (1 + 0.02 * (n - 1));
    chart.table.rows.push_back({Cell::count(n), Cell::number(sync), Cell::number(0.93 * sync),
                                Cell::number(1.07 * sync), Cell::number(ensemble),
                                Cell::number(0.96 * ensemble), Cell::number(1.04 * ensemble),
                                Cell::number(n)});
  }
  chart.intervals = {{1, 2, 3}, {4, 5, 6}};
  return chart;
}

/// As many as on a cluster: whiskers of predictions reach below zero.
inline Chart cluster() {
  Chart chart{
      Chart::Kind::kLine, "Cluster", "", "workers", "seconds", {{"workers", "sync", "low", "high"}, {}}, true,
      {{1, 2, 3}}};
  chart.of_workers = true;
  for (int n = 1; n <= 1024; n *= 2) {
    const double seconds = 400.0 / n + 2;
    chart.table.rows.push_back(
        {Cell::count(n), Cell::number(seconds), Cell::number(seconds - 4), Cell::number(seconds + 4)});
  }
  return chart;
}

/// Many points: no marks, a band; one value is missing.
inline Chart prediction() {
  Chart chart{Chart::Kind::kLine,
              "Prediction",
              "",
              "ranks",
              "seconds",
              {{"ranks", "predicted", "low", "high", "measured"}, {}}};
  for (int n = 1; n <= 64; ++n) {
    const double seconds = 120.0 / n + 3;
    chart.table.rows.push_back({Cell::count(n), Cell::number(seconds), Cell::number(seconds * 0.8),
                                Cell::number(seconds * 1.2), Cell::number(n == 9 ? NAN : seconds * 1.05)});
  }
  chart.intervals = {{1, 2, 3}};
  return chart;
}

inline Chart makespans() {
  return {Chart::Kind::kBar,
          "Makespan by fraction",
          "",
          "fraction of the samples",
          "seconds",
          {{"fraction", "1 rank", "low", "high", "2 ranks", "low", "high", "4 ranks", "8 ranks"},
           {{"1/4", Cell::number(2.5), Cell::number(2.3), Cell::number(2.7), Cell::number(1.4),
             Cell::number(1.2), Cell::number(1.6), Cell::number(0.9), Cell::number(0.7)},
            {"1/2", Cell::number(5.0), Cell::number(4.8), Cell::number(5.2), Cell::number(2.7),
             Cell::number(2.6), Cell::number(2.9), Cell::number(1.5), Cell::number(1.1)},
            {"1", Cell::number(10.0), Cell::number(9.7), Cell::number(10.3), Cell::number(5.3),
             Cell::number(5.1), Cell::number(5.4), Cell::number(2.8), Cell::number(NAN)}}},
          false,
          {{1, 2, 3}, {4, 5, 6}}};
}

/// So many that the bars are horizontal, on a logarithmic axis, with a very long name and a hostile one.
inline Chart counts() {
  Chart chart{Chart::Kind::kBar,
              "Counts " + kHostile,
              kHostile,
              kHostile,
              kHostile,
              {{"class", "train " + kHostile, "low", "high", "test"}, {}},
              true,
              {{1, 2, 3}}};
  for (int k = 0; k < 16; ++k) {
    const int count = 3 << k;
    const std::string name = k == 0 ? kHostile : "class " + std::to_string(k);
    chart.table.rows.push_back(
        {name, Cell::count(count), Cell::count(count / 2), Cell::count(count * 2), Cell::count(count / 3)});
  }
  return chart;
}

inline Chart histogram(std::vector<std::string> series) {
  Chart chart{
      Chart::Kind::kHistogram, "Values in " + std::to_string(series.size()), "", "value from", "pixels",
      {{"from"}, {}}};
  chart.table.columns.insert(chart.table.columns.end(), series.begin(), series.end());
  for (int bin = 0; bin < 32; ++bin) {
    std::vector<Cell> row{Cell::count(8 * bin)};
    for (std::size_t s = 0; s < series.size(); ++s) {
      const double at = (bin - 12.0 - 4 * static_cast<double>(s)) / 5;
      row.push_back(Cell::count(std::lround(250'000 * std::exp(-at * at))));
    }
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

inline Chart scatter() {
  Chart chart{Chart::Kind::kScatter, "Two components", "", "first", "second", {{"x", "y", "class"}, {}}};
  for (int i = 0; i < 200; ++i) {
    const int group = i % 11;
    chart.table.rows.push_back({Cell::number(std::cos(group) * 3 + std::sin(7.1 * i)),
                                Cell::number(std::sin(group) * 3 + std::cos(9.7 * i)), Cell::count(group)});
  }
  return chart;
}

inline Chart boxes() {
  Chart chart{
      Chart::Kind::kBox,
      "Brightness",
      "",
      "",
      "mean value",
      {{"class", "least", "5 %", "first quartile", "median", "third quartile", "95 %", "largest"}, {}}};
  for (int k = 0; k < 5; ++k) {
    std::vector<Cell> row{"class " + std::to_string(k)};
    for (const double at : {-40, -20, -8, 1, 10, 24, 60}) row.push_back(Cell::number(100 + 8 * k + at));
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

inline std::vector<Chart> charts() {
  return {speed_up(),
          cluster(),
          prediction(),
          makespans(),
          counts(),
          histogram({"pixels"}),
          histogram({"red", "green", "blue"}),
          scatter(),
          boxes()};
}

inline std::vector<NamedTable> tables() {
  return {{"Results of two systems",
           {{"system", "accuracy", "images/s", "loss"},
            {{"synchronous", Cell::percent(0.9891), Cell::count(47275), Cell::number(-0.0342)},
             {kHostile, Cell::percent(0.9886), Cell::count(51061), Cell::number(1.5e-7)},
             {"neither − nor ≥ it", Cell::percent(NAN), "not run", Cell::number(NAN)}}}},
          {"Results of two systems", {{"only text"}, {{"a--b"}}}}};
}

inline convoke::report::Page page() {
  convoke::report::Page page("Charts", "of every kind");
  page.section("Charts");
  const std::vector<Chart> all = charts();
  page.side_by_side(all);
  page.heading("Results");
  for (const NamedTable& named : tables()) page.add(named.table);
  return page;
}

}  // namespace example
