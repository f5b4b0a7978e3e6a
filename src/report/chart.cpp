#include "convoke/report/chart.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/report/html.hpp"

namespace convoke::report {
namespace {

constexpr std::array kKinds{"bar", "histogram", "line", "scatter", "box"};

}  // namespace

std::string Chart::html() const {
  const std::string name = escape(title);
  std::string html = fmt::format(
      "<figure class=chart data-kind={} data-x=\"{}\" data-y=\"{}\"{}>\n<figcaption>{}</figcaption>\n",
      kKinds[static_cast<std::size_t>(kind)], escape(x_title), escape(y_title),
      logarithmic ? " data-logarithmic" : "", name);
  html += fmt::format("<div class=plot><canvas role=img aria-label=\"{}\"></canvas></div>\n", name);
  if (!note.empty()) html += fmt::format("<p class=note>{}</p>\n", escape(note));
  html += "<details><summary>The numbers</summary>\n" + table.html() + "</details>\n</figure>\n";
  return html;
}

}  // namespace convoke::report
