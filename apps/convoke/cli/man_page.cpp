#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "convoke/core/text.hpp"

namespace convoke::app {
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
