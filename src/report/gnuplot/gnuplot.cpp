#include "gnuplot.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text_file.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/child_process.hpp"
#include "convoke/report/html.hpp"
#include "letters.hpp"
#include "script.hpp"
#include "style.hpp"

namespace convoke::report {
namespace {

namespace fs = std::filesystem;

constexpr double kPixelsPerMm = 96 / 25.4, kPixelsPerPoint = 96.0 / 72;
constexpr double kPoints = 8;  // of letters; pdfcairo takes its sizes for 4/3 points

std::string svg_script(const Chart& chart, std::span<const Look> looks, const fs::path& file) {
  const GnuplotScript drawing = gnuplot_script(chart, looks);
  return fmt::format(
      "set terminal svg noenhanced size {},{} font 'sans-serif,{:.2f}' background rgb 'white'\n"
      "set output {}\n{}set output\n",
      std::lround(drawing.width_mm * kPixelsPerMm), std::lround(drawing.height_mm * kPixelsPerMm),
      kPoints * kPixelsPerPoint, gnuplot_quoted(file.string()), drawing.commands);
}

std::string pdf_script(const Chart& chart, std::span<const Look> looks, const fs::path& file) {
  const GnuplotScript drawing = gnuplot_script(chart, looks);
  return fmt::format(
      "set terminal pdfcairo noenhanced color size {:.2f}cm,{:.2f}cm font 'sans,{}' fontscale 0.75\n"
      "set output {}\n{}set output\n",
      drawing.width_mm / 10, drawing.height_mm / 10, kPoints, gnuplot_quoted(file.string()),
      drawing.commands);
}

// What a browser and a screen reader call the picture: gnuplot says "Gnuplot".
void set_title(const fs::path& svg, const std::string& title) {
  constexpr std::string_view kBegin = "<title>", kEnd = "</title>";
  std::string text = read_text(svg).value_or("");
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return;
  text.replace(begin + kBegin.size(), end - begin - kBegin.size(), escape(title));
  std::ofstream(svg, std::ios::binary) << text;
}

}  // namespace

void draw(const Chart& chart, std::span<const Look> looks, const fs::path& svg, const fs::path& pdf,
          std::set<std::string>& missing) {
  os::AtomicFile drawn_svg(svg), drawn_pdf(pdf);
  const std::string script = svg_script(chart, looks, drawn_svg.temporary()) + "reset session\n" +
                             pdf_script(in_known_letters(chart, missing), looks, drawn_pdf.temporary());
  const os::Answer answer = os::run({kGnuplot, "-d"}, {.input = script});  // -d: without anybody's settings
  std::error_code failed;
  const auto is_empty = [&](const fs::path& file) { return fs::file_size(file, failed) == 0 || failed; };
  if (answer.code != 0 || is_empty(drawn_svg.temporary()) || is_empty(drawn_pdf.temporary())) {
    throw Error(
        fmt::format("the figure \"{}\" cannot be drawn: gnuplot says: {}", chart.title, answer.output),
        "it needs gnuplot's terminals svg and pdfcairo (Debian package gnuplot-nox), and space to write");
  }
  set_title(drawn_svg.temporary(), chart.title);
  drawn_svg.commit(os::Durability::kUnsynced);
  drawn_pdf.commit(os::Durability::kUnsynced);
}

}  // namespace convoke::report
