#include "report/page/html.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "convoke/core/text.hpp"
#include "convoke/report/page.hpp"

namespace convoke::report {
namespace {

std::string_view named(char character) {
  switch (character) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

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
    } else if (const std::string_view name = named(text.front()); !name.empty()) {
      html += name;
    } else {
      html += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return html;
}

bool begins_as_page(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::array<std::string_view, 2> kBeginnings{"<!doctype html", "<html"};
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
    return bytes.size() >= beginning.size() &&
           std::equal(beginning.begin(), beginning.end(), bytes.begin(), [](char expected, char found) {
             return expected == std::tolower(static_cast<unsigned char>(found));
           });
  });
}

}  // namespace convoke::report
