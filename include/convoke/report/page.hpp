#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/picture.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

/// One HTML file that holds all it shows: it opens without a network, on a phone, in light and dark, and its
/// charts have the table behind them. Built from top to bottom.
class Page {
 public:
  /// `subtitle`: one line below the title.
  Page(std::string title, std::string subtitle);

  /// A new section; its name stands in the list at the top.
  void section(std::string_view name);
  void heading(std::string_view text);  ///< within a section
  void paragraph(std::string_view text);
  /// A line to be copied into a terminal.
  void code(std::string_view text);
  /// A text of many lines as it is, below its name: to be unfolded.
  void folded(std::string_view name, std::string_view text);
  /// Something that should be seen to.
  void warning(std::string_view text);
  /// Numbers in boxes: what they are, and what they say.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void add(const Table& table);
  void add(const Chart& chart);
  /// Charts beside one another where there is room.
  void side_by_side(std::span<const Chart> charts);
  void add(std::span<const Figure> figures);

  /// What it shows so far, in this order: for write_figures. A table or a gallery is called after the
  /// heading or section that it stands in.
  const std::vector<Chart>& charts() const { return charts_; }
  const std::vector<NamedTable>& tables() const { return tables_; }
  const std::vector<NamedGallery>& galleries() const { return galleries_; }

  /// The whole file. Throws Error if the charts' library was not there when Convoke was built; the hint says
  /// what to install.
  std::string html() const;

 private:
  std::string title_, subtitle_;
  std::vector<std::string> sections_;
  std::string heading_;  // that stands last
  std::vector<Chart> charts_;
  std::vector<NamedTable> tables_;
  std::vector<NamedGallery> galleries_;
  std::string body_;

  const std::string& place() const { return heading_.empty() ? title_ : heading_; }
};

/// Whether the charts' library was there when Convoke was built.
bool has_charts();
/// Throws the Error of Page::html if not: for programs that want to know before they compute.
void require_charts();

}  // namespace convoke::report
