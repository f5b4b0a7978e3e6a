#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "convoke/core/text.hpp"

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

namespace {

// Text as roff takes it: hyphens that can be searched and copied, and no line that looks like a macro.
std::string roff(const std::string& text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) escaped += "\\&";
    if (text[i] == '\\') {
      escaped += "\\(rs";
    } else if (text[i] == '-') {
      escaped += "\\-";
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

// A line break that is to stay is a request of its own.
std::string roff_lines(const std::string& text) {
  std::string lines = roff(text);
  for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 5)
    lines.insert(at, "\n.br");
  return lines;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string section(const std::string& title) { return fmt::format(".SH \"{}\"\n", roff(upper(title))); }

std::string dashed(std::string full_name) {
  std::ranges::replace(full_name, ' ', '-');
  return full_name;
}

std::string entries(const std::vector<ManualEntry>& entries) {
  std::string text;
  for (const ManualEntry& entry : entries) {
    const std::string names = entry.names.empty() ? "" : fmt::format("\\fB{}\\fR", roff(join(entry.names)));
    const std::string value = entry.value.empty() ? "" : fmt::format("\\fI{}\\fR", roff(entry.value));
    text += fmt::format(".TP\n{}{}{}\n{}\n", names, names.empty() || value.empty() ? "" : " ", value,
                        roff_lines(entry.text));
  }
  return text;
}

std::string block_text(const ManualBlock& block) {
  switch (block.kind) {
    case ManualBlock::Kind::kHeading:
      return section(block.text.substr(0, block.text.size() - 1));
    case ManualBlock::Kind::kLines:
      return fmt::format(".PP\n.nf\n{}\n.fi\n", roff(block.text));
    case ManualBlock::Kind::kParagraph:
      return fmt::format(".PP\n{}\n", roff(block.text));
  }
  return {};
}

}  // namespace

std::string man_page_name(const Manual& manual) { return dashed(manual.full_name) + ".1"; }

std::string man_page(const Manual& manual, const std::string& version) {
  const std::string name = dashed(manual.full_name);
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"convoke {}\" \"Convoke\"\n", roff(upper(name)), roff(version));
  text += section("Name") + fmt::format("{} \\- {}\n", roff(name), roff(manual.description));
  const std::string usage = manual.usage();
  text += section("Synopsis") +
          fmt::format("\\fB{}\\fR{}\n", roff(manual.full_name), roff(usage.substr(manual.full_name.size())));
  if (!manual.commands.empty()) text += section("Commands");
  for (const ManualGroup& group : manual.command_groups())
    text += fmt::format(".SS \"{}\"\n", roff(group.title)) + entries(group.entries);
  if (!manual.arguments.empty()) text += section("Arguments") + entries(manual.arguments);
  for (const ManualGroup& group : manual.options) text += section(group.title) + entries(group.entries);
  for (const ManualBlock& block : manual.footer) text += block_text(block);

  std::vector<std::string> others;
  const std::size_t last_word = manual.full_name.rfind(' ');
  if (last_word != std::string::npos) others.push_back(manual.full_name.substr(0, last_word));
  for (const Manual& command : manual.commands) others.push_back(command.full_name);
  if (others.empty()) return text;
  text += section("See also");
  for (std::size_t i = 0; i < others.size(); ++i)
    text += fmt::format(".BR {} (1){}\n", roff(dashed(others[i])), i + 1 < others.size() ? "," : "");
  return text;
}

}  // namespace convoke::app
