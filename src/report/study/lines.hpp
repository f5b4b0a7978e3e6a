#pragma once
#include <optional>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/study/analysis/statistics.hpp"

namespace convoke::report {

/// A quantity over numbers, with intervals if they are known.
struct Line {
  struct Point {
    double x = 0, y = 0;
    std::optional<study::Interval> interval;
  };
  std::string name;
  std::vector<Point> points = {};
  std::string apart_from = {};  ///< the related line, from which it must be distinguishable
};

/// Lines in one chart, without empty ones; its table has a row for every x of any line.
Chart line_chart(const std::string& title, const std::string& note, const std::string& x_title,
                 const std::string& y_title, const std::vector<Line>& lines);

}  // namespace convoke::report
