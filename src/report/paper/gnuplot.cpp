#include "report/paper/gnuplot.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/child_process.hpp"
#include "report/page/html.hpp"

namespace convoke::report {
namespace {

namespace fs = std::filesystem;

constexpr double kPixelsPerMm = 96 / 25.4, kPixelsPerPoint = 96.0 / 72;
constexpr double kPoints = 8;  // size of letters; a point of pdfcairo is 4/3 of these

std::string svg_script(const GnuplotScript& drawing, const fs::path& file) {
  return fmt::format(
      "set terminal svg noenhanced size {},{} font 'sans-serif,{:.2f}' background rgb 'white'\n"
      "set output {}\n{}set output\n",
      std::lround(drawing.width_mm * kPixelsPerMm), std::lround(drawing.height_mm * kPixelsPerMm),
      kPoints * kPixelsPerPoint, gnuplot_quoted(file.string()), drawing.commands);
}

std::string pdf_script(const GnuplotScript& drawing, const fs::path& file) {
  return fmt::format(
      "set terminal pdfcairo noenhanced color size {:.2f}cm,{:.2f}cm font 'sans,{}' fontscale 0.75\n"
      "set output {}\n{}set output\n",
      drawing.width_mm / 10, drawing.height_mm / 10, kPoints, gnuplot_quoted(file.string()),
      drawing.commands);
}

// Sets the name of the picture in browsers and screen readers, which gnuplot sets to "Gnuplot".
void set_title(const fs::path& svg, const std::string& title) {
  constexpr std::string_view kBegin = "<title>", kEnd = "</title>";
  std::string text = read_text(svg).value_or("");
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return;
  text.replace(begin + kBegin.size(), end - begin - kBegin.size(), escape(title));
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

}  // namespace

void draw(const Chart& chart, std::span<const SeriesStyle> styles, const fs::path& svg, const fs::path& pdf,
          std::set<std::string>& missing) {
  GnuplotScript drawing = gnuplot_script({chart, styles});
  os::AtomicFile drawn_svg(svg), drawn_pdf(pdf);
  std::string script = svg_script(drawing, drawn_svg.temporary()) + "reset session\n";
  drawing.commands = in_known_letters(drawing.commands, missing);
  script += pdf_script(drawing, drawn_pdf.temporary());
  const os::Answer answer = os::run({kGnuplot, "-d"}, {.input = script});  // -d: ignore the user's settings
  std::error_code failed;
  const auto is_empty = [&](const fs::path& file) { return fs::file_size(file, failed) == 0 || failed; };
  if (answer.code != 0 || is_empty(drawn_svg.temporary()) || is_empty(drawn_pdf.temporary())) {
    throw Error(
        fmt::format("the figure \"{}\" cannot be drawn: gnuplot says: {}", chart.title, answer.output),
        "install a gnuplot with the terminals svg and pdfcairo (Debian package gnuplot-nox), or free some "
        "disk "
        "space");
  }
  set_title(drawn_svg.temporary(), chart.title);
  drawn_svg.commit(os::Durability::kUnsynced);
  drawn_pdf.commit(os::Durability::kUnsynced);
}

}  // namespace convoke::report
