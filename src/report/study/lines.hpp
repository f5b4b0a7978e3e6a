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

using Lines = std::vector<Line>;

/// Adds a point to the line of that name. A marked point is added to a separate line, named after its marks,
/// so that readers can distinguish it.
void add_point(Lines& lines, const std::string& name, const std::vector<std::string>& marks,
               const Line::Point& point);

/// Lines in one chart, without empty ones; its table has a row for every x of any line.
Chart line_chart(const std::string& title, const std::string& note, const std::string& x_title,
                 const std::string& y_title, const std::vector<Line>& lines);

}  // namespace convoke::report
