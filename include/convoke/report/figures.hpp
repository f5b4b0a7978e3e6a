#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/picture.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

struct FiguresWritten {
  std::vector<std::filesystem::path> files;
  std::string notice;  ///< lines: why there is no drawing of some or all charts, letters that no font has
};

/// Charts, tables and pictures for a paper, in a folder, which is made if need be. A chart becomes TITLE.svg
/// and TITLE.pdf, drawn by gnuplot for a column of 84 mm with letters of 8 pt, and TITLE.csv with its
/// numbers, and its series look the same in all (Looks); a table TITLE.tex (booktabs) and TITLE.csv; the
/// pictures of a gallery TITLE-1.png, ..., pixel by pixel, and a table that says what they show. File names
/// are their titles in lower case with "-" between words, "-2" and so on behind those that are taken. Without
/// gnuplot there are no drawings, and the notice names its package; a chart without numbers is not drawn
/// either. Files of these names are replaced, each as a whole. Throws Error naming the file that cannot be
/// written, or what gnuplot says.
FiguresWritten write_figures(std::span<const Chart> charts, std::span<const NamedTable> tables,
                             const std::filesystem::path& folder,
                             std::span<const NamedGallery> galleries = {});

}  // namespace convoke::report
