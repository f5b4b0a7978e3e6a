#include "convoke/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/process.hpp"
#include "report/chart/series_style.hpp"
#include "report/paper/gnuplot.hpp"
#include "report/paper/latex.hpp"

namespace convoke::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCharacters = 60;
constexpr const char* kHint = "choose a writable folder on a disk with free space";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Converts "Words of <b>" to "words-of-b": characters that are safe in file names everywhere.
std::string file_name(const std::string& title) {
  std::string name;
  for (char c : title) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (is_letter_or_digit(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name.resize(std::min(name.size(), kMostCharacters));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "untitled" : name;
}

bool has_numbers(const Chart& chart) {
  const std::size_t first = chart.kind == Chart::Kind::kScatter ? 0 : 1;
  for (const std::vector<Cell>& row : chart.table.rows) {
    for (std::size_t c = first; c < row.size(); ++c) {
      if (row[c].value.empty()) continue;
      if (!chart.logarithmic || row[c].as_double() > 0) return true;
    }
  }
  return false;
}

/// The folder for the files of one call.
class FigureFolder {
 public:
  explicit FigureFolder(fs::path path) : path_(std::move(path)) {
    std::error_code failed;
    fs::create_directories(path_, failed);
    if (failed)
      throw Error(fmt::format("{}: cannot be created: {}", path_.string(), failed.message()), kHint);
  }

  /// Returns the path of the files of a title, without extension; it differs from those of all other titles.
  std::string stem(const std::string& title) {
    const std::string name = file_name(title);
    std::string unique = name;
    for (int n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{}-{}", name, n);
    return (path_ / unique).string();
  }

 private:
  fs::path path_;
  std::set<std::string> taken_;
};

}  // namespace

FiguresWritten write_figures(std::span<const Chart> charts, std::span<const NamedTable> tables,
                             const fs::path& path, std::span<const NamedGallery> galleries,
                             std::span<const HeatMap> heat_maps) {
  FigureFolder folder(path);
  FiguresWritten written;
  const auto note = [&](const std::string& file, const std::string& text) {
    os::replace_text(file, text, os::Durability::kUnsynced);
    written.files.emplace_back(file);
  };
  const SeriesStyles styles(charts);
  const bool has_gnuplot = os::find_program(kGnuplot).has_value();
  std::vector<std::string> empty;
  std::set<std::string> missing;
  const auto draw_both = [&](const GnuplotScript& drawing, const std::string& title,
                             const std::string& stem) {
    const std::array<fs::path, 2> files{stem + ".svg", stem + ".pdf"};
    draw(drawing, title, files, missing);
    written.files.insert(written.files.end(), files.begin(), files.end());
  };
  for (const Chart& chart : charts) {
    const std::string stem = folder.stem(chart.title);
    note(stem + ".csv", chart.table.csv());
    if (!has_numbers(chart)) {
      empty.push_back(fmt::format("\"{}\"", chart.title));
    } else if (has_gnuplot) {
      draw_both(gnuplot_script({chart, styles.of(chart)}), chart.title, stem);
    }
  }
  for (const HeatMap& map : heat_maps) {
    const std::string stem = folder.stem(map.title);
    note(stem + ".csv", map.table().csv());
    if (has_gnuplot) draw_both(gnuplot_script(map), map.title, stem);
  }
  const auto add_table = [&](const NamedTable& table) {
    const std::string stem = folder.stem(table.title);
    note(stem + ".tex", latex(table));
    note(stem + ".csv", table.table.csv());
  };
  for (const NamedTable& table : tables) add_table(table);
  for (const NamedGallery& gallery : galleries) {
    NamedTable shown{gallery.title, {{"file", "shows"}, {}}};
    for (const Figure& figure : gallery.figures) {
      const std::string file =
          folder.stem(fmt::format("{} {}", gallery.title, shown.table.rows.size() + 1)) + ".png";
      const std::vector<std::uint8_t> bytes = png(figure.picture);
      note(file, {bytes.begin(), bytes.end()});
      shown.table.rows.push_back({fs::path(file).filename().string(), figure.caption});
    }
    add_table(shown);
  }
  std::vector<std::string> notices;
  if (!has_gnuplot && !(charts.empty() && heat_maps.empty())) {
    notices.emplace_back("charts were not drawn: gnuplot is not installed (Debian package gnuplot-nox)");
  }
  if (!empty.empty()) notices.push_back("not drawn, because they have no numbers: " + join(empty));
  if (!missing.empty()) {
    notices.push_back(fmt::format("no font has {}: the PDF shows \"?\" instead (packages fonts-noto-...)",
                                  join(std::vector<std::string>(missing.begin(), missing.end()), " ")));
  }
  written.notice = join(notices, "\n");
  return written;
}

}  // namespace convoke::report
