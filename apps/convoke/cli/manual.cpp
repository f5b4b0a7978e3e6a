#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "convoke/core/text.hpp"

namespace convoke::app {
namespace {

// CLI11's words for values without a name of their own, and for checks whose range is obvious.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPlainWords{
    {{"INT", "N"}, {"UINT", "N"}, {"FLOAT", "X"}, {"NUMBER", "X"}, {"POSITIVE", ""}, {"NONNEGATIVE", ""}}};

std::string plain(const std::string& word) {
  for (const auto& [theirs, ours] : kPlainWords) {
    if (word == theirs) return std::string(ours);
  }
  return word;
}

// "only with --html", "not with --raw"
void add_relations(std::vector<std::string>& remarks, const std::set<CLI::Option*>& others,
                   const char* word) {
  std::vector<std::string> names;
  for (const CLI::Option* other : others) names.push_back(other->get_name());
  std::ranges::sort(names);  // a set of pointers has no order of its own
  if (!names.empty()) remarks.push_back(fmt::format("{} {}", word, join(names, " and ")));
}

ManualEntry entry_of(const CLI::Option& option) {
  // The name of the value, then what its checks require: "N:1 to 50000".
  const std::string type = option.get_type_name();
  const std::size_t colon = std::min(type.find(':'), type.size());
  const std::string range = colon == type.size() ? "" : plain(type.substr(colon + 1));

  ManualEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    entry.value = plain(type.substr(0, colon));
    if (entry.names.empty() && option.get_expected_max() > 1) entry.value += "...";
  }
  entry.text = option.get_description();
  entry.repeats = option.get_expected_max() > 1;
  entry.required = option.get_required();
  std::vector<std::string> remarks;
  if (!range.empty()) remarks.push_back(range);
  if (entry.required && !entry.names.empty()) remarks.emplace_back("required");
  if (const std::string value = option.get_default_str(); !value.empty() && !entry.value.empty())
    remarks.push_back("default " + value);
  if (entry.repeats && !entry.names.empty() && option.get_delimiter() == '\0')
    remarks.emplace_back("may be repeated");
  add_relations(remarks, option.get_needs(), "only with");
  add_relations(remarks, option.get_excludes(), "not with");
  if (!remarks.empty()) entry.text += fmt::format(" ({})", join(remarks, "; "));
  return entry;
}

std::vector<ManualBlock> blocks_of(const std::string& footer) {
  using Kind = ManualBlock::Kind;
  std::vector<ManualBlock> blocks;
  bool open = false;  // the last block takes further lines
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    const Kind kind = line.starts_with(' ')                           ? Kind::kLines
                      : !open && !line.empty() && line.ends_with(':') ? Kind::kHeading
                                                                      : Kind::kParagraph;
    if (line.empty()) {
      open = false;
    } else if (open && kind == blocks.back().kind) {
      blocks.back().text += (kind == Kind::kLines ? "\n" : " ") + line;
    } else {
      blocks.push_back({kind, line});
      open = kind != Kind::kHeading;
    }
  }
  return blocks;
}

// The entries below a title, which becomes the last group if there is none yet.
std::vector<ManualEntry>& entries_of(std::vector<ManualGroup>& groups, const std::string& title) {
  auto group = std::ranges::find(groups, title, &ManualGroup::title);
  if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
  return group->entries;
}

}  // namespace

std::string ManualEntry::label() const {
  const std::string name = join(names);
  return name.empty() || value.empty() ? name + value : name + " " + value;
}

std::vector<std::string> ManualEntry::choices() const {
  std::vector<std::string> all;
  std::istringstream words(value.find('|') == std::string::npos ? "" : value);
  for (std::string word; std::getline(words, word, '|');) all.push_back(word);
  return all;
}

std::string Manual::usage() const {
  std::string text = full_name;
  if (!options.empty()) text += " [OPTIONS]";
  for (const ManualEntry& argument : arguments)
    text += argument.required ? " " + argument.value : " [" + argument.value + "]";
  if (arguments.empty() && !commands.empty()) text += " COMMAND";
  return text;
}

std::vector<ManualGroup> Manual::command_groups() const {
  std::vector<ManualGroup> groups;
  for (const Manual& command : commands) {
    entries_of(groups, command.group).push_back({{command.name}, "", command.description});
  }
  return groups;
}

Manual manual_of(const CLI::App& parser) {
  Manual manual{.name = parser.get_name(),
                .full_name = parser.get_name(),
                .description = parser.get_description(),
                .group = parser.get_group(),
                .arguments = {},
                .options = {},
                .commands = {},
                .footer = blocks_of(parser.get_footer())};
  for (const CLI::App* above = parser.get_parent(); above != nullptr; above = above->get_parent())
    manual.full_name = above->get_name() + " " + manual.full_name;
  std::vector<const CLI::Option*> options = parser.get_options();
  std::ranges::stable_partition(options, [&](const CLI::Option* option) {
    return option != parser.get_help_ptr() && option != parser.get_version_ptr();  // these two last
  });
  for (const CLI::Option* option : options) {
    if (option->get_group().empty()) continue;  // hidden
    if (!option->nonpositional()) {
      manual.arguments.push_back(entry_of(*option));
      continue;
    }
    entries_of(manual.options, option->get_group()).push_back(entry_of(*option));
  }
  for (const CLI::App* command : parser.get_subcommands({})) manual.commands.push_back(manual_of(*command));
  return manual;
}

void for_each_command(const Manual& manual, const std::function<void(const Manual&)>& action) {
  action(manual);
  for (const Manual& command : manual.commands) for_each_command(command, action);
}

}  // namespace convoke::app
