#include "report/paper/latex.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

using Named = std::pair<std::string_view, std::string_view>;
constexpr std::array<Named, 34> kNamed{{{"\\", "\\textbackslash{}"},
                                        {"{", "\\{"},
                                        {"}", "\\}"},
                                        {"&", "\\&"},
                                        {"%", "\\%"},
                                        {"$", "\\$"},
                                        {"#", "\\#"},
                                        {"_", "\\_"},
                                        {"~", "\\textasciitilde{}"},
                                        {"^", "\\textasciicircum{}"},
                                        {"<", "\\textless{}"},
                                        {">", "\\textgreater{}"},
                                        {"|", "\\textbar{}"},
                                        {"\"", "\\char34{}"},
                                        {"`", "\\textasciigrave{}"},
                                        {"[", "{[}"},  // after \\ it would begin an option
                                        {"*", "{*}"},
                                        {"-", "-{}"},  // prevents that two become a dash
                                        {"−", "$-$"},
                                        {"≤", "$\\le$"},
                                        {"≥", "$\\ge$"},
                                        {"≈", "$\\approx$"},
                                        {"→", "$\\to$"},
                                        {"∞", "$\\infty$"},
                                        {"√", "$\\surd$"},
                                        {"Δ", "$\\Delta$"},
                                        {"Σ", "$\\Sigma$"},
                                        {"α", "$\\alpha$"},
                                        {"β", "$\\beta$"},
                                        {"κ", "$\\kappa$"},
                                        {"λ", "$\\lambda$"},
                                        {"μ", "$\\mu$"},
                                        {"σ", "$\\sigma$"},
                                        {kReplacementCharacter, "?"}}};

}  // namespace

std::string latex_escape(std::string_view text) {
  const std::string line = one_line(text);
  std::string latex;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = utf8_length(std::string_view(line).substr(at));
    const std::string_view character = std::string_view(line).substr(at, length);
    const auto* const named = std::find_if(kNamed.begin(), kNamed.end(),
                                           [&](const Named& entry) { return entry.first == character; });
    latex += named == kNamed.end() ? character : named->second;
    at += length;
  }
  return latex;
}

}  // namespace convoke::report
