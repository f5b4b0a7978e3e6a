#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/page.hpp"
#include "convoke/study/analysis/analysis.hpp"

// The sections of a study's page, and the series of its charts: their names, and their points. A section adds
// nothing if the study lacks its data.

namespace convoke::report {

void add_scaling(Page& page, const study::Analysis& analysis);
void add_fractions(Page& page, const study::Analysis& analysis);
void add_accuracy(Page& page, const study::Analysis& analysis);
void add_phases(Page& page, const study::Analysis& analysis);
void add_costs(Page& page, const study::Analysis& analysis);
/// Time by cost, colored by accuracy, and a table of the configurations that no other one beats in all
/// three.
void add_pareto(Page& page, const study::Analysis& analysis);

/// Most charts show only the largest fraction of the samples, because they would be too long; other fractions
/// have a separate chart.
double largest_fraction(const study::Analysis& analysis);
std::vector<study::MeasuredConfiguration> whole_configurations(const study::Analysis& analysis);
/// Returns " With all of the samples.", for captions, if there are other fractions.
std::string of_fraction(const study::Analysis& analysis);
/// The same for the largest of these fractions.
std::string of_fraction(const std::set<double>& fractions);

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
  /// `curves`: some that may belong to no configuration.
  explicit ShortNames(std::span<const study::MeasuredConfiguration> configurations,
                      std::span<const study::Curve* const> curves = {});

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
