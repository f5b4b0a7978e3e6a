#include "letters.hpp"

#include <fmt/format.h>

#include <map>

#include "convoke/core/utf8.hpp"
#include "convoke/os/child_process.hpp"

namespace convoke::report {
namespace {

constexpr char32_t kLastOfEverywhere = 0x17F;  // letters of European names, which every font has

// Asked of fontconfig, whose tools come with the library that draws the text.
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

void replace(std::string& text, std::set<std::string>& missing) {
  std::string known;
  const std::string line = one_line(text);
  for (std::string_view rest = line; !rest.empty();) {
    const std::string_view letter = rest.substr(0, utf8_length(rest));
    const char32_t character = code_point(letter);
    if (character <= kLastOfEverywhere || has_font(character)) {
      known += letter;
    } else {
      known += '?';
      missing.emplace(letter);
    }
    rest.remove_prefix(letter.size());
  }
  text = known;
}

}  // namespace

Chart in_known_letters(Chart chart, std::set<std::string>& missing) {
  replace(chart.x_title, missing);
  replace(chart.y_title, missing);
  for (std::string& column : chart.table.columns) replace(column, missing);
  const std::size_t names = chart.kind == Chart::Kind::kScatter ? 2 : 0;  // the column that is shown
  for (std::vector<Cell>& row : chart.table.rows) replace(row[names].text, missing);
  return chart;
}

}  // namespace convoke::report
