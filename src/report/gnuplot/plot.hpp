#pragma once
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/report/chart.hpp"
#include "script.hpp"

namespace convoke::report {

/// The number of a cell, NaN if it has none.
double number_of(const Cell& cell);

/// What a drawing is made of: data, axes, and what is plotted with its names in the legend. Columns of data
/// are counted from 1 by gnuplot, those of tables from 0.
class Plot {
 public:
  /// `chart` must outlive it.
  explicit Plot(const Chart& chart);

  void line(const std::string& command);  ///< any command
  void named(const std::string& name, const std::string& what);
  void unnamed(const std::string& what);
  /// From column `low` to `high` of $data or another, along the axis of values, at `place` on the other one.
  void whiskers(bool lying, const std::string& place, std::size_t low, std::size_t high,
                std::string_view colour, const std::string& data = "data");

  void data(const std::string& name, const std::vector<std::vector<double>>& rows);  ///< as $name
  /// The table as $data: all its columns as numbers, those of intervals cut where a logarithmic axis begins.
  /// `names`: the first is the number of the row.
  void data(bool names);

  void value_axis(char axis, bool from_zero);
  void name_axis(char axis);
  /// False where the rows' names, side by side, would run into each other.
  bool names_fit() const;
  void number_axis();  ///< x, of a line chart

  /// Where the axis of values begins if it is logarithmic: below all that is shown on it.
  double decade() const;
  void set_height(double mm) { script_.height_mm = mm; }

  /// All of it, with the legend. Call it once.
  GnuplotScript script();

 private:
  void legend();
  void double_axis(const std::vector<double>& doublings, double largest);

  const Chart& chart_;
  const Table& table_;
  GnuplotScript script_;
  std::string plots_;
  std::map<std::string, std::string> series_names_,
      row_names_;  // what they are called where there is little room
  std::vector<std::string> legend_;
  double largest_ = 0, least_positive_ = std::numeric_limits<double>::infinity();
};

}  // namespace convoke::report
