#include "convoke/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/process.hpp"
#include "report/chart/series_style.hpp"
#include "report/page/html.hpp"
#include "report/paper/gnuplot.hpp"
#include "report/paper/latex.hpp"

namespace convoke::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGnuplot = "gnuplot";  // the program
constexpr double kPixelsPerMm = 96 / 25.4, kPixelsPerPoint = 96.0 / 72;

std::string svg_script(const GnuplotScript& drawing, const fs::path& file) {
  return fmt::format(
      "set terminal svg noenhanced size {},{} font 'sans-serif,{:.2f}' background rgb 'white'\n"
      "set output {}\n{}set output\n",
      std::lround(drawing.width_mm * kPixelsPerMm), std::lround(drawing.height_mm * kPixelsPerMm),
      drawing.points * kPixelsPerPoint, gnuplot_quoted(file.string()), drawing.commands);
}

// A point of pdfcairo is 4/3 of a point.
std::string pdf_script(const GnuplotScript& drawing, const fs::path& file) {
  return fmt::format(
      "set terminal pdfcairo noenhanced color size {:.2f}cm,{:.2f}cm font 'sans,{}' fontscale 0.75\n"
      "set output {}\n{}set output\n",
      drawing.width_mm / 10, drawing.height_mm / 10, drawing.points, gnuplot_quoted(file.string()),
      drawing.commands);
}

// Sets the name of the picture in browsers and screen readers, which gnuplot sets to "Gnuplot", and writes
// bold letters as SVG has them. Cells of a heat map keep sharp edges.
void finish_svg(const fs::path& svg, const std::string& title) {
  constexpr std::string_view kBegin = "<title>", kEnd = "</title>", kWeight = ":Bold\"", kImage = "<image ";
  std::string text = read_text(svg).value_or("");
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return;
  text.replace(begin + kBegin.size(), end - begin - kBegin.size(), escape(title));
  for (std::size_t at = 0; (at = text.find(kWeight, at)) != std::string::npos;)
    text.replace(at, kWeight.size(), "-serif\" font-weight=\"bold\"");
  for (std::size_t at = 0; (at = text.find(kImage, at)) != std::string::npos; at += kImage.size())
    text.insert(at + kImage.size(), "style='image-rendering:pixelated' ");
  std::ofstream(svg, std::ios::binary) << text;
}

constexpr char32_t kLastOfEverywhere = 0x17F;  // last of the letters of European names, which every font has

// Asks fontconfig, whose tools are installed with the library that draws the text.
bool has_font(char32_t character) {
  static std::map<char32_t, bool> known;
  const auto [entry, is_new] = known.try_emplace(character);
  if (is_new) {
    const os::Answer answer =
        os::run({"fc-list", fmt::format(":charset={:x}", static_cast<std::uint32_t>(character)), "family"});
    entry->second = answer.code == 0 && !answer.output.empty();
  }
  return entry->second;
}

// Returns the commands with "?" for characters that no installed font has: gnuplot's PDF would show a black
// area over half of the figure. An SVG is shown with the fonts of its reader.
std::string in_known_letters(std::string_view commands, std::set<std::string>& missing) {
  std::string known;
  while (!commands.empty()) {
    const std::string_view letter = commands.substr(0, utf8_length(commands));
    const char32_t character = code_point(letter);
    if (character <= kLastOfEverywhere || has_font(character)) {
      known += letter;
    } else {
      known += '?';
      missing.emplace(letter);
    }
    commands.remove_prefix(letter.size());
  }
  return known;
}

// Draws into SVG and PDF files; each appears when it is complete. Adds the characters that no installed font
// has, which PDF shows as "?", to `missing`. Throws Error with the title and the message of gnuplot.
void draw(const GnuplotScript& drawing, const std::string& title, std::span<const fs::path> files,
          std::set<std::string>& missing) {
  GnuplotScript in_letters = drawing;
  in_letters.commands = in_known_letters(drawing.commands, missing);
  std::deque<os::AtomicFile> drawn;
  std::string script;
  for (const fs::path& file : files) {
    const fs::path& temporary = drawn.emplace_back(file).temporary();
    script += "reset session\n";
    script += file.extension() == ".svg" ? svg_script(drawing, temporary) : pdf_script(in_letters, temporary);
  }
  const os::Answer answer = os::run({kGnuplot, "-d"}, {.input = script});  // -d: ignore the user's settings
  const bool complete = std::ranges::all_of(drawn, [](const os::AtomicFile& file) {
    std::error_code failed;
    return fs::file_size(file.temporary(), failed) > 0 && !failed;
  });
  if (answer.code != 0 || !complete) {
    throw Error(
        fmt::format("the figure \"{}\" cannot be drawn: gnuplot says: {}", title, answer.output),
        "install a gnuplot with the terminals svg and pdfcairo (Debian package gnuplot-nox), or free some disk "
        "space");
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].extension() == ".svg") finish_svg(drawn[i].temporary(), title);
    drawn[i].commit(os::Durability::kUnsynced);
  }
}

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
