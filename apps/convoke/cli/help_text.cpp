#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/manual.hpp"

namespace convoke::app {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kWidestLabel = 32;  // wider ones have a line of their own

// `text` in lines of at most `width` columns; a line break in it stays.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    while (rest.size() > width) {
      std::size_t space = rest.rfind(' ', width);
      if (space == std::string_view::npos || space == 0) space = std::min(rest.find(' '), rest.size());
      lines.emplace_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    lines.emplace_back(rest);
    if (end == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string group_text(const ManualGroup& group, std::size_t labels) {
  std::string text = group.title + ":\n";
  for (const ManualEntry& entry : group.entries) {
    std::string label = "  " + entry.label();
    for (const std::string& line : wrapped(entry.text, kColumns - labels)) {
      if (label.size() + 2 > labels) {
        text += label + "\n";
        label.clear();
      }
      text += fmt::format("{:<{}}{}\n", label, labels, line);
      label.clear();
    }
  }
  return text + "\n";
}

std::string footer_text(const std::vector<ManualBlock>& footer) {
  std::string text;
  bool after_heading = true;
  for (const ManualBlock& block : footer) {
    if (!after_heading && block.kind != ManualBlock::Kind::kLines) text += "\n";
    if (block.kind == ManualBlock::Kind::kParagraph) {
      for (const std::string& line : wrapped(block.text, kColumns)) text += line + "\n";
    } else {
      text += block.text + "\n";
    }
    after_heading = block.kind == ManualBlock::Kind::kHeading;
  }
  return text;
}

}  // namespace

std::string help_text(const Manual& manual) {
  std::vector<ManualGroup> groups = manual.command_groups();
  if (!manual.arguments.empty()) groups.push_back({"Arguments", manual.arguments});
  groups.insert(groups.end(), manual.options.begin(), manual.options.end());
  std::size_t labels = 0;
  for (const ManualGroup& group : groups) {
    for (const ManualEntry& entry : group.entries)
      labels = std::max(labels, std::min(entry.label().size(), kWidestLabel) + 4);
  }
  std::string text;
  for (const std::string& line : wrapped(manual.description + ".", kColumns)) text += line + "\n";
  text += fmt::format("\nUsage: {}\n\n", manual.usage());
  for (const ManualGroup& group : groups) text += group_text(group, labels);
  return text + footer_text(manual.footer);
}

}  // namespace convoke::app
