#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

// The series of a study's charts: their names, and their points.

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

/// Returns short names of a study's configurations and curves for charts: the coordinates in which they
/// differ. A mode that follows from the system is omitted.
class ShortNames {
 public:
  explicit ShortNames(std::span<const study::MeasuredConfiguration> configurations);

  /// Returns "mnist-sync, 4 ranks, 1/2".
  std::string configuration(const study::Coordinates& at) const;
  /// Returns that name, with "! " before the name of a marked configuration, so that readers can
  /// distinguish it.
  std::string configuration(const study::MeasuredConfiguration& configuration) const {
    return (configuration.marks.empty() ? "" : "! ") + this->configuration(configuration.at);
  }
  std::string configuration(const study::Coordinates& at,
                            std::span<const study::MeasuredConfiguration> configurations) const {
    const study::MeasuredConfiguration* configuration = study::configuration_at(configurations, at);
    return configuration == nullptr ? this->configuration(at) : this->configuration(*configuration);
  }
  /// Returns the name without ranks and threads: "mnist-sync, 1/2".
  std::string curve(const study::Coordinates& at) const;

 private:
  bool systems_ = false, modes_ = false, batches_ = false, variants_ = false, fractions_ = false,
       threads_ = false, machines_ = false;
};

}  // namespace convoke::report
