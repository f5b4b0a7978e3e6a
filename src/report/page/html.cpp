#include "report/page/html.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "convoke/core/csv.hpp"
#include "convoke/core/text.hpp"
#include "convoke/report/page.hpp"

namespace convoke::report {
namespace {

using Entity = std::pair<char, std::string_view>;
constexpr std::array<Entity, 5> kEntities{
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};

}  // namespace

std::string escape(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (length == 0 || control) {
      html += kReplacementCharacter;
    } else if (const auto* entity = std::ranges::find(kEntities, text.front(), &Entity::first);
               entity != kEntities.end()) {
      html += entity->second;
    } else {
      html += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return html;
}

bool begins_as_page(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kType = "<!doctype html";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  const std::string beginning = lower_case(std::string(bytes.substr(0, kType.size())));
  return beginning == kType || beginning.starts_with("<html");
}

}  // namespace convoke::report
