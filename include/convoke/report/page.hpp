#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/heat_map.hpp"
#include "convoke/report/picture.hpp"

namespace convoke::report {

/// A self-contained HTML file: it opens without a network, on a phone, in light and dark mode, and each chart
/// comes with its table. Built from top to bottom.
class Page {
 public:
  /// `subtitle`: one line below the title.
  Page(std::string title, std::string subtitle);

  /// Begins a section; its name appears in the contents list at the top.
  void section(std::string_view name);
  void heading(std::string_view text);  ///< within a section
  void paragraph(std::string_view text);
  /// Adds a command for the reader to copy.
  void code(std::string_view text);
  /// Adds a long text, verbatim, hidden until the reader unfolds it.
  void folded(std::string_view name, std::string_view text);
  /// Adds a problem that the reader should know.
  void warning(std::string_view text);
  /// Adds boxes with a name and a value.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void add(const Table& table);
  void add(const Chart& chart);
  /// Adds charts, next to each other if there is room.
  void side_by_side(std::span<const Chart> charts);
  void add(const HeatMap& map);
  void add(std::span<const Figure> figures);

  /// The contents so far, in this order, for write_figures. A table or a gallery has the title of its heading
  /// or section.
  const std::vector<Chart>& charts() const { return charts_; }
  const std::vector<HeatMap>& heat_maps() const { return heat_maps_; }
  const std::vector<NamedTable>& tables() const { return tables_; }
  const std::vector<NamedGallery>& galleries() const { return galleries_; }

  /// Returns the whole file. Throws Error if Chart.js was not installed when Convoke was built; the hint says
  /// what to install.
  std::string html() const;

 private:
  std::string title_, subtitle_;
  std::vector<std::string> sections_;
  std::string heading_;  // the latest heading
  std::vector<Chart> charts_;
  std::vector<HeatMap> heat_maps_;
  std::vector<NamedTable> tables_;
  std::vector<NamedGallery> galleries_;
  std::string body_;

  const std::string& place() const { return heading_.empty() ? title_ : heading_; }
};

/// Returns true if a file that begins with these bytes is an HTML page of any program.
bool begins_as_page(std::string_view bytes);

/// Returns true if Chart.js was installed when Convoke was built.
bool has_charts();
/// Throws the Error of Page::html if not; for programs that check before they compute.
void require_charts();

}  // namespace convoke::report
