#include "convoke/report/figures.hpp"

#include "convoke/report/study_page.hpp"
#include "example_charts.hpp"
#include "example_studies.hpp"
#include "report/paper/latex.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/pattern.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"
#include "support/variable.hpp"

using namespace convoke;
using namespace convoke::report;

namespace {

bool installed(const std::string& program) { return shell("command -v " + program).code == 0; }

constexpr const char* kNoGnuplot = "no gnuplot (Debian package gnuplot-nox)";
constexpr const char* kNoLatex = "no pdflatex (Debian package texlive-latex-recommended)";

}  // namespace

TEST_CASE("text becomes LaTeX in which no character is a command") {
  CHECK(latex_escape("50% of A&B_1") == "50\\% of A\\&B\\_1");
  CHECK(latex_escape("\\a{b}~^$#") == "\\textbackslash{}a\\{b\\}\\textasciitilde{}\\textasciicircum{}\\$\\#");
  CHECK(latex_escape("<\"|`>") == "\\textless{}\\char34{}\\textbar{}\\textasciigrave{}\\textgreater{}");
  CHECK(latex_escape("[*] a--b") == "{[}{*}] a-{}-{}b");
  CHECK(latex_escape("é – 鳥 ≥ \xDF\n") == "é – 鳥 $\\ge$ ? ");
}

TEST_CASE("a table is a booktabs tabular that shrinks to the line, and CSV with the exact read") {
  Cell interval("-0.05 to 1.2e-05");
  interval.value = "-0.05";
  const NamedTable table{"Two\nlines",
                         {{"a_b", "share", "n", "rate"},
                          {{"x,y-1", Cell::percent(0.1234), Cell::count(60000), Cell::number(-1.5e-7)},
                           {"–", Cell::percent(NAN), "none", interval}}}};
  CHECK(latex(table) ==
        "% Two lines; needs \\usepackage{booktabs, graphicx}\n{%\n"
        "\\noindent\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
        "\\begin{tabular}{@{}lrrr@{}}\n\\toprule\n"
        "a\\_b & share & n & rate \\\\\n\\midrule\n"
        "x,y-{}1 & 12.3 \\% & 60,000 & $-$$1.5\\cdot10^{-7}$ \\\\\n"
        "– & – & none & $-$0.05 to $1.2\\cdot10^{-5}$ \\\\\n\\bottomrule\n\\end{tabular}}}\n");
  CHECK(table.table.csv() ==
        "a_b,share (%),n,rate\n\"x,y-1\",12.34,60000,-1.5e-07\n,,none,-0.05 to 1.2e-05\n");
}

TEST_CASE(
    "a wide table is set small and wraps its texts, a long one breaks across pages, and one with too many "
    "columns shrinks") {
  const std::string words =
      "a cell of many words, which are wrapped where there is no room for them in a line";
  NamedTable table{"t", {{"what", "n", "why"}, {{words, Cell::count(1), words}}}};
  CHECK_THAT(latex(table), Contains("needs \\usepackage{booktabs, graphicx, tabularx}\n{\\scriptsize") &&
                               Contains("\\resizebox") && Contains("\\begin{tabularx}{") &&
                               Contains("{\\raggedright\\arraybackslash\\hsize=") &&
                               Contains("{\\raggedleft\\arraybackslash\\hsize=") &&
                               Contains("\\end{tabularx}}}"));
  table.table.rows.resize(40, table.table.rows.front());
  CHECK_THAT(latex(table), Contains("needs \\usepackage{booktabs, array, longtable}\n{\\scriptsize") &&
                               Contains("\\begin{longtable}") && Contains("\\dimexpr\\linewidth") &&
                               Contains("\\endhead") && !Contains("\\resizebox"));
  NamedTable matrix{"m", {}};
  for (int c = 0; c < 40; ++c) {
    matrix.table.columns.push_back("of " + std::to_string(c));
    matrix.table.rows.emplace_back(40, Cell::count(1000));
  }
  CHECK_THAT(latex(matrix), Contains("\\resizebox") && !Contains("longtable"));
}

TEST_CASE("a chart knows which columns are series and which are ends of their intervals") {
  const Chart chart = example::speed_up();
  CHECK(chart.series() == std::vector<std::size_t>{1, 4, 7});
  REQUIRE(chart.interval_of(4) != nullptr);
  CHECK(chart.interval_of(4)->high == 6);
  CHECK(chart.interval_of(7) == nullptr);
}

TEST_CASE("every kind of chart becomes SVG, PDF and CSV, whatever its texts") {
  if (!installed("gnuplot")) return skip(kNoGnuplot);
  const TemporaryFolder place;
  const fs::path folder = place / "it's a \"folder\" \\n 鳥";
  const std::vector<Chart> charts = example::charts();
  const FiguresWritten written = write_figures(charts, {}, folder);
  if (!written.notice.empty()) CHECK_THAT(written.notice, Contains("no font has 鳥"));
  CHECK(written.files.size() == 3 * charts.size());
  CHECK(entries_in(folder).size() == written.files.size());
  std::string all_embedded;
  for (const fs::path& file : written.files) {
    CAPTURE(file);
    const std::string text = bytes_of(file);
    if (file.extension() == ".svg") {
      CHECK_THAT(text,
                 Contains("<svg") && Contains("</svg>") && !Contains("<b>") && !Contains("Gnuplot</title>"));
    }
    if (file.extension() == ".pdf") {
      CHECK(text.starts_with("%PDF-"));
      all_embedded += "yes\n";
    }
  }
  const std::string each = "cd '" + place.path().string() + "' && for file in */*";
  if (installed("xmllint")) CHECK(shell(each + ".svg; do xmllint --noout \"$file\"; done").text == "");
  if (installed("pdffonts")) {  // of each file, whether its fonts are embedded
    const std::string fonts = "pdffonts \"$file\" | tail -n +3 | awk '{print $(NF-4)}' | sort -u";
    CHECK(shell(each + ".pdf; do " + fonts + "; done").text == all_embedded);
  }
  // Read as plain text: no part of it is a command, a format or mark-up.
  const std::string svg = bytes_of(folder / "counts-100-of-b-textbf-it-b-isn-t-x-1-2-touch-hostile-1-a.svg");
  CHECK_THAT(svg, Contains("<text>100% of &lt;b>\\textbf{it}&lt;/b> …</text>"));     // title of an axis
  CHECK_THAT(svg, Contains("<text>100% of &lt;b>\\te… ~{a} 鳥 [*] \uFFFD</text>"));  // label along the axis
  CHECK(!fs::exists("hostile"));
}

TEST_CASE("names that do not fit side by side are below each other, and none is clipped") {
  if (!installed("gnuplot")) return skip(kNoGnuplot);
  const TemporaryFolder place;
  Chart chart{Chart::Kind::kBar, "Phases", "", "", "seconds", {{"cell", "compute", "load"}, {}}};
  for (int ranks = 1; ranks <= 10; ++ranks) {
    chart.table.rows.push_back(
        {fmt::format("! mnist-ensemble, {} ranks", ranks), Cell::number(10.0 / ranks), Cell::number(1)});
  }
  write_figures({&chart, 1}, {}, place.path());
  const std::string svg = bytes_of(place / "phases.svg");
  const std::string name(R"re(translate\(([0-9.]+),[0-9.]+\)"[^>]*text-anchor="end">\s*<text>(! [^<]*)<)re");
  const std::vector<Match> names = all_matches(svg, name);
  for (const Match& found : names) {
    constexpr double kNarrowest = 5;  // width of a letter, on average
    CHECK(std::stod(found[1]) > kNarrowest * static_cast<double>(found[2].length()));
  }
  CHECK(names.size() == 10);
}

TEST_CASE("stacked bars are as long as the sums of their series") {
  if (!installed("gnuplot")) return skip(kNoGnuplot);
  const TemporaryFolder place;
  for (const int rows : {2, 20}) {  // vertical, horizontal
    Chart chart{Chart::Kind::kBar, "Steps", "", "", "seconds", {{"rank", "data", "compute", "wait"}, {}}};
    chart.stacked = true;
    for (int rank = 0; rank < rows; ++rank) {
      chart.table.rows.push_back(
          {Cell::count(rank), Cell::number(30), Cell::number(40 - rank), Cell::number(30 + rank)});
    }
    write_figures({&chart, 1}, {}, place.path());
    const std::string svg = bytes_of(place / "steps.svg");
    CHECK_THAT(svg,
               Contains(">100</text>") || Contains("<text>100</text>"));  // the axis of values has the sum
    CHECK_THAT(svg, !Contains("<text>150</text>"));
  }
}

TEST_CASE("each file is named after its title") {
  const TemporaryFolder place;
  const FiguresWritten written = write_figures({}, example::tables(), place.path() / "new/folder");
  CHECK(written.notice == "");
  const fs::path folder = place / "new/folder";
  CHECK(written.files == std::vector<fs::path>{folder / "results-of-two-systems.tex",
                                               folder / "results-of-two-systems.csv",
                                               folder / "results-of-two-systems-2.tex",
                                               folder / "results-of-two-systems-2.csv"});
  const NamedTable bird{"鳥", {{"a"}, {}}};
  CHECK(write_figures({}, {&bird, 1}, folder).files.front() == folder / "untitled.tex");
}

TEST_CASE("pictures are separate files, with a table of their captions") {
  const TemporaryFolder place;
  const Picture gray{2, 1, 1, {0, 255}}, red{1, 1, 3, {255, 0, 0}};
  const NamedGallery gallery{"Worst mistakes", {{gray, "test 3: is 4, taken for 9"}, {red, "50 % sure", 2}}};
  const FiguresWritten written = write_figures({}, {}, place.path(), {&gallery, 1});
  const fs::path folder = place.path();
  CHECK(written.files == std::vector<fs::path>{folder / "worst-mistakes-1.png",
                                               folder / "worst-mistakes-2.png", folder / "worst-mistakes.tex",
                                               folder / "worst-mistakes.csv"});
  const std::vector<std::uint8_t> bytes = png(gray);
  CHECK(bytes_of(folder / "worst-mistakes-1.png") == std::string(bytes.begin(), bytes.end()));
  CHECK(bytes_of(folder / "worst-mistakes.csv") ==
        "file,shows\nworst-mistakes-1.png,\"test 3: is 4, taken for 9\"\nworst-mistakes-2.png,50 % sure\n");
  CHECK_THAT(bytes_of(folder / "worst-mistakes.tex"), Contains("50 \\% sure"));
}

TEST_CASE("without gnuplot there are numbers and tables, and a notice that names its package") {
  const TemporaryFolder place;
  const std::vector<Chart> charts{example::boxes()};
  const Variable nowhere("PATH", place.path().c_str());
  const FiguresWritten written = write_figures(charts, example::tables(), place.path());
  CHECK_THAT(written.notice, Contains("gnuplot-nox"));
  CHECK(written.files.size() == 5);
  CHECK(entries_in(place.path()).size() == 5);
}

TEST_CASE("if gnuplot fails, the Error has its message, and no partial file is left") {
  const TemporaryFolder place;
  { std::ofstream(place / "gnuplot") << "#!/bin/sh\necho 'no such terminal' >&2; exit 1\n"; }
  fs::permissions(place / "gnuplot", fs::perms::owner_all);
  const Variable fake("PATH", place.path().c_str());
  const std::vector<Chart> charts{example::boxes()};
  CHECK_THAT(error_of([&] { write_figures(charts, {}, place / "out"); }),
             Contains("the figure \"Brightness\" cannot be drawn") && Contains("no such terminal"));
  CHECK(entries_in(place / "out").size() == 1);  // only the numbers
}

TEST_CASE("a chart without numbers is not drawn, and a notice says so") {
  if (!installed("gnuplot")) return skip(kNoGnuplot);
  const TemporaryFolder place;
  Chart none = example::speed_up();
  for (auto& row : none.table.rows) {
    for (std::size_t c = 1; c < row.size(); ++c) row[c] = Cell::number(NAN);
  }
  Chart logarithmic = example::counts();
  logarithmic.title = "Zeros";
  for (auto& row : logarithmic.table.rows) {
    for (std::size_t c = 1; c < row.size(); ++c) row[c] = Cell::count(0);
  }
  Chart one = example::speed_up();  // a chart with a single point is drawn
  one.title = "One";
  one.table.rows.resize(1);
  const std::vector<Chart> charts{none, logarithmic, one};
  const FiguresWritten written = write_figures(charts, {}, place.path());
  CHECK(written.notice == "not drawn, because they have no numbers: \"Speed-up\", \"Zeros\"");
  CHECK(written.files.size() == 5);
}

TEST_CASE("a folder that cannot be written is an Error that names it") {
  const TemporaryFolder place;
  std::ofstream(place / "file") << "in the way";
  CHECK_THAT(error_of([&] { write_figures({}, example::tables(), place / "file"); }),
             Contains((place / "file").string()));
}

namespace {

// Returns the output of pdflatex for an article with these files.
Outcome set_paper(const fs::path& folder, const std::string& options, const std::string& contents,
                  const std::string& preamble = "") {
  std::ofstream(folder / "paper.tex") << "\\documentclass[a4paper," << options << "]{article}\n"
                                      << "\\usepackage{booktabs, graphicx, tabularx, longtable}\n"
                                      << preamble << "\\begin{document}\n"
                                      << contents << "\\end{document}\n";
  const std::string run = "pdflatex -halt-on-error -interaction=nonstopmode paper.tex";
  return shell("cd " + folder.string() + " && " + run + " > /dev/null && " +
               run);  // long tables need two passes
}

// Keeps the paper for inspection.
void keep_paper(const fs::path& folder, const std::string& name) {
  const char* const kept = std::getenv("CONVOKE_KEEP_PAPER");
  if (kept != nullptr)
    fs::copy(folder, fs::path(kept) / name,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

}  // namespace

TEST_CASE("the figures and tables fit into a paper of two pages") {
  if (!installed("gnuplot")) return skip(kNoGnuplot);
  if (!installed("pdflatex")) return skip(kNoLatex);
  const TemporaryFolder place;
  std::vector<NamedTable> tables = example::tables();
  for (auto& row : tables.front().table.rows) {  // pdflatex has no Asian letters
    for (Cell& cell : row) {
      if (const std::size_t at = cell.text.find("鳥"); at != std::string::npos) cell.text.erase(at, 3);
    }
  }
  const std::vector<Chart> charts = example::charts();
  const FiguresWritten written = write_figures(charts, tables, place.path());
  std::string contents = "\\section{Results}\n";
  for (const fs::path& file : written.files) {
    const std::string name = file.filename().string();
    if (name.ends_with(".pdf")) contents += "\\noindent\\includegraphics{" + name + "}\\par\n";
    if (name.ends_with(".tex")) contents += "\\input{" + name + "}\\par\n";
  }
  const Outcome made =
      set_paper(place.path(), "twocolumn", contents, "\\usepackage[margin=18mm,columnsep=6mm]{geometry}\n")
          .ends(0);
  CAPTURE(made.text);
  CHECK_THAT(made.text, Contains("(2 pages") && !Contains("Overfull"));
  keep_paper(place.path(), "figures");
}

TEST_CASE("no table of a study is wider than the text of an article") {
  if (!installed("pdflatex")) return skip(kNoLatex);
  const std::string size = GENERATE("10pt", "11pt", "12pt");
  const TemporaryFolder place;
  const Page page = study_page("a study", example::study_of_two_modes(), {}, "made by a test");
  std::vector<NamedTable> tables = page.tables();
  for (const std::size_t rows : {30, 60}) {  // also with the rows of a larger study
    for (NamedTable named : page.tables()) {
      const std::vector<std::vector<Cell>> again = named.table.rows;
      while (named.table.rows.size() < rows)
        named.table.rows.insert(named.table.rows.end(), again.begin(), again.end());
      named.table.rows.resize(rows, again.front());
      tables.push_back(named);
    }
  }
  std::string contents;
  for (const fs::path& file : write_figures({}, tables, place.path()).files) {
    if (file.extension() == ".tex") contents += "\\input{" + file.filename().string() + "}\\par\n";
  }
  const Outcome made = set_paper(place.path(), size, contents).ends(0);
  CAPTURE(made.text);
  CHECK_THAT(made.text, Contains("Output written") && !Contains("Overfull"));
  keep_paper(place.path(), "study-" + size);
}
