#include "report/chart/drawing.hpp"

#include "convoke/core/text.hpp"
#include "example_charts.hpp"
#include "report/paper/gnuplot.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::report;

namespace {

Drawing drawing_of(const Chart& chart) { return {chart, SeriesStyles({&chart, 1}).of(chart)}; }

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> all;
  for (const Tick& tick : axis.ticks) all.push_back(tick.label);
  return all;
}

using Labels = std::vector<std::string>;

/// A line through these values over 1, 2, 3, ...
Chart line(const std::vector<double>& values) {
  Chart chart{Chart::Kind::kLine, "t", "", "x", "y", {{"x", "y"}, {}}};
  for (const double value : values)
    chart.table.rows.push_back({Cell::count(std::ssize(chart.table.rows) + 1), Cell::number(value, 6)});
  return chart;
}

}  // namespace

TEST_CASE("an axis of values begins and ends at round numbers that enclose all values") {
  Chart chart = line({0.12, 0.31, 0.47});
  CHECK(labels(drawing_of(chart).values) == Labels{"0.1", "0.2", "0.3", "0.4", "0.5"});
  chart.from_zero = true;
  CHECK(labels(drawing_of(chart).values) == Labels{"0", "0.1", "0.2", "0.3", "0.4", "0.5"});
  CHECK(labels(drawing_of(line({-3, 0, 8})).values) == Labels{"-4", "-2", "0", "2", "4", "6", "8"});
  CHECK(labels(drawing_of(line({1e5, 2.5e5})).values) == Labels{"100k", "150k", "200k", "250k"});
  CHECK(labels(drawing_of(line({7, 7})).values) == Labels{"0", "2", "4", "6", "8"});  // one value, from zero
  CHECK(drawing_of(line({NAN, NAN})).values.low == 0);

  Chart shares = line({96.3, 98.2, 99.9});
  shares.most = 100;
  CHECK(drawing_of(shares).values.high == 100);
  shares.intervals = {{1, 2, 3}};
  shares.table.columns = {"x", "y", "low", "high"};
  for (auto& row : shares.table.rows) row.insert(row.end(), {Cell::number(80), Cell::number(104)});
  CHECK(drawing_of(shares).values.high == 100);  // no values beyond the possible range
  CHECK(drawing_of(shares).values.low == 80);
}

TEST_CASE("a logarithmic axis begins at a power of ten below half of the least value") {
  Chart chart = line({3, 40, 90'000});
  chart.logarithmic = true;
  const Axis axis = drawing_of(chart).values;
  CHECK(axis.low == 1);
  CHECK(axis.high == Approx(100'000));
  CHECK(labels(axis) == Labels{"1", "10", "100", "1000", "10k", "100k"});
  Chart few = line({3, 8});
  few.logarithmic = true;
  CHECK(labels(drawing_of(few).values) == Labels{"1", "2", "5", "10"});
}

TEST_CASE("positions along an axis have labels if there is room, otherwise round numbers have labels") {
  CHECK(labels(drawing_of(line({1, 1, 1})).along) == Labels{"1", "2", "3"});
  CHECK(labels(drawing_of(line(std::vector<double>(60, 1))).along) ==
        Labels{"10", "20", "30", "40", "50", "60"});
  Chart within = line(std::vector<double>(16, 1));  // validations within two epochs
  for (std::size_t r = 0; r < 16; ++r) within.table.rows[r][0] = Cell::number(1 + static_cast<double>(r) / 8);
  CHECK(labels(drawing_of(within).along) == Labels{"1", "1.5", "2", "2.5"});
  CHECK(labels(drawing_of(line({5})).along) == Labels{"1"});
  Chart bins = line({1, 1, 1});  // a long label needs more room
  for (std::size_t r = 0; r < 3; ++r)
    bins.table.rows[r][0] = Cell::number(std::array{18.8897, 23.5721, 67.8962}[r], 6);
  CHECK(labels(drawing_of(bins).along) == Labels{"20", "30", "40", "50", "60"});
}

TEST_CASE("bins of a histogram end where the next begins, and the last bin is as wide as the one before") {
  const Chart chart = example::histogram({"pixels"});
  const Drawing drawing = drawing_of(chart);
  CHECK(drawing.along.low == 0);
  CHECK(drawing.along.high == 256);
  CHECK_THAT(gnuplot_script(drawing).commands, Contains("\n248 256 ") && Contains("\n256 256 "));
}

TEST_CASE("bars are horizontal if their names do not fit side by side, or if there are many") {
  Chart chart{Chart::Kind::kBar, "t", "", "", "y", {{"name", "y"}, {}}};
  for (int row = 0; row < 10; ++row) chart.table.rows.push_back({std::to_string(row), Cell::count(row)});
  CHECK_FALSE(drawing_of(chart).horizontal);
  chart.table.rows[3][0] = "a long name";
  CHECK(drawing_of(chart).horizontal);
  CHECK(drawing_of(chart).text_lines == 10);
  const Chart many = example::counts();
  CHECK(drawing_of(many).horizontal);
}

TEST_CASE("pages and papers have the same ends of axes and the same labels") {
  for (const Chart& chart : example::charts()) {
    CAPTURE(chart.title);
    const Drawing drawing = drawing_of(chart);
    const Settings page = drawing.settings();
    const std::string paper = gnuplot_script(drawing).commands;
    for (const char* name : {"along", "values"}) {
      const Axis& axis = name == std::string("along") ? drawing.along : drawing.values;
      const Settings& told = *page.find(name)->table();
      REQUIRE(std::get<Value::Array>(told.find("ticks")->data()).size() == axis.ticks.size());
      for (const Tick& tick : axis.ticks)
        if (tick.label.find_first_of("'%") == std::string::npos)
          CHECK_THAT(paper, Contains("'" + tick.label + "' "));
    }
  }
}

TEST_CASE("whiskers that reach zero or below are clipped at the start of a logarithmic axis") {
  Chart chart{Chart::Kind::kLine, "Predicted", "",
              "workers",          "seconds",   {{"workers", "time", "from", "to"}, {}}};
  chart.logarithmic = true;
  chart.intervals = {{1, 2, 3}};
  for (const double low : {3.0, 0.0, -2.0})
    chart.table.rows.push_back({Cell::number(5 - low), Cell::number(4), Cell::number(low), Cell::number(20)});
  CHECK_THAT(
      gnuplot_script(drawing_of(chart)).commands,
      Contains("set logscale y 10\nset yrange [1:20.02]\n") && Contains("\n2 4 3 20\n5 4 1 20\n7 4 1 20\n"));
}

TEST_CASE("numbers of workers that double several times are evenly spaced, with as many labels as fit") {
  Chart chart{Chart::Kind::kLine, "Speed-up", "", "workers", "speed-up", {{"workers", "ideal"}, {}}};
  chart.of_workers = true;
  for (int workers = 1; workers <= 8; workers *= 2)
    chart.table.rows.push_back({Cell::count(workers), Cell::count(workers)});
  CHECK(drawing_of(chart).along.logarithm == 0);
  CHECK(labels(drawing_of(chart).along) == Labels{"1", "2", "4", "8"});
  chart.table.rows.push_back({Cell::count(12), Cell::count(12)});
  for (int workers = 16; workers <= 1024; workers *= 2)
    chart.table.rows.push_back({Cell::count(workers), Cell::count(workers)});
  CHECK(drawing_of(chart).along.logarithm == 2);
  CHECK(labels(drawing_of(chart).along) == Labels{"1", "4", "16", "64", "256", "1024"});
  CHECK_THAT(
      gnuplot_script(drawing_of(chart)).commands,
      Contains("set logscale x 2\nset xrange [1:1025.024]\nset xtics ('1' 1, '4' 4, '16' 16, '64' 64, "));
  chart.of_workers = false;  // e.g. epochs
  CHECK(drawing_of(chart).along.logarithm == 0);
}

TEST_CASE("labels of series are shortened, and remain distinct") {
  const Chart chart = example::counts();
  const Drawing drawing = drawing_of(chart);
  CHECK(drawing.series[0].label.starts_with("train 100% of "));
  CHECK_THAT(drawing.series[0].label, Contains("…"));
  CHECK_THAT(drawing.along.ticks[0].label, Contains("…"));
  CHECK(drawing.series[1].label == "test");
}

TEST_CASE("long names keep beginning and end, and remain distinct") {
  const auto called = [](const std::vector<std::string>& names, std::size_t characters) {
    std::vector<std::string> all;
    const auto known = report::distinct_names(names, characters);
    for (const std::string& name : names) all.push_back(known.at(name));
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(called({"sync", "ensemble, 1/2"}, 20) == Names{"sync", "ensemble, 1/2"});
  CHECK(called({"mnist-ensemble, optimizer.name=adam, 4 ranks"}, 20) == Names{"mnist-ense…, 4 ranks"});
  CHECK(called({"鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥"}, 8) == Names{"鳥鳥鳥鳥…鳥鳥鳥"});
  // A cut in the middle would make both "abcdefgh…stuvwxy".
  CHECK(called({"abcdefgh-1-jklmnopqrstuvwxy", "abcdefgh-2-jklmnopqrstuvwxy"}, 16) ==
        Names{"abcdefgh-1…uvwxy", "abcdefgh-2…uvwxy"});
}

TEST_CASE("names that differ only in the hidden part are numbered") {
  const std::string around(40, 'a');
  std::vector<std::string> names;
  for (int n = 0; n < 12; ++n) names.push_back(around + std::to_string(n) + around);
  std::set<std::string> seen;
  for (const auto& [name, called] : report::distinct_names(names, 20)) {
    CHECK(character_count(called) <= 20);
    seen.insert(called);
  }
  CHECK(seen.size() == names.size());
}
