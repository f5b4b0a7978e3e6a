#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/heat_map.hpp"
#include "convoke/report/picture.hpp"

namespace convoke::report {

struct FiguresWritten {
  std::vector<std::filesystem::path> files;
  std::string notice;  ///< lines about charts that were not drawn, and characters that no font has
};

/// Writes charts, tables and pictures for a paper into a folder, which is created if necessary. A chart
/// becomes TITLE.svg and TITLE.pdf, drawn by gnuplot for a column of 84 mm with 8 pt text, and TITLE.csv with
/// its numbers; a series has the same style in all charts. A heat map becomes the same
/// files. A table becomes TITLE.tex (booktabs, tabularx) and
/// TITLE.csv; the pictures of a gallery become TITLE-1.png, ..., and a table of captions. File names are
/// titles in lower case with "-" between words, followed by "-2" and so on for repeated titles. Without
/// gnuplot charts are not drawn, and the notice names its package; charts without numbers are not drawn
/// either. Existing files of these names are replaced atomically. Throws Error naming the file that cannot be
/// written, or with the message of gnuplot.
FiguresWritten write_figures(std::span<const Chart> charts, std::span<const NamedTable> tables,
                             const std::filesystem::path& folder,
                             std::span<const NamedGallery> galleries = {},
                             std::span<const HeatMap> heat_maps = {});

}  // namespace convoke::report
