#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/recipe/library.hpp"

namespace convoke::app {
namespace {

std::vector<std::string> recipes() {
  std::vector<std::string> names = recipe::recipe_names();
  const std::vector<std::string> networks = nn::zoo_names();
  names.insert(names.end(), networks.begin(), networks.end());
  return names;
}

// Words that a value can be; none if it is a path or of the user's choice.
std::vector<std::string> words_for(const ManualEntry& entry, const Manual& program) {
  if (entry.value == "COMMAND...") return names_in(program.commands);
  if (entry.value == "RECIPE") return recipes();
  return entry.choices();
}

bool is_path(const ManualEntry& entry) {
  constexpr std::array kPaths{"FILE",    "FOLDER", "RECIPE", "RUN",  "MODEL",
                              "DATASET", "SOURCE", "INPUT",  "STUDY"};
  return std::ranges::any_of(kPaths,
                             [&](const char* word) { return entry.value.find(word) != std::string::npos; });
}

// "convoke train"|"convoke study"|...
std::string known_commands(const Manual& program) {
  std::vector<std::string> names;
  for_each_command(program, [&](const Manual& command) {
    if (command.full_name != program.full_name) names.push_back(fmt::format("\"{}\"", command.full_name));
  });
  return join(names, "|");
}

// In single quotes of a shell, as a part of what _arguments and _describe take.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
    } else if (c == '\n') {
      escaped += ' ';
    } else {
      if (std::string_view("[]:\\").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

// How zsh completes a value: ":FOLDER:_files -/".
std::string zsh_value(const ManualEntry& entry, const Manual& program) {
  if (entry.value.empty()) return "";
  const std::vector<std::string> words = words_for(entry, program);
  const std::string action = entry.value == "RECIPE"   ? "_convoke_recipes"
                             : !words.empty()          ? fmt::format("({})", join(words, " "))
                             : entry.value == "FOLDER" ? "_files -/"
                             : is_path(entry)          ? "_files"
                                                       : " ";
  return fmt::format("{}:{}:{}", entry.value.starts_with('[') ? ":" : "", zsh_text(entry.value), action);
}

std::vector<std::string> zsh_specifications(const Manual& command, const Manual& program) {
  std::vector<std::string> specifications;
  for (const ManualGroup& group : command.options) {
    for (const ManualEntry& entry : group.entries) {
      const std::string others = entry.repeats ? "*" : fmt::format("({})", join(entry.names, " "));
      for (const std::string& name : entry.names) {
        specifications.push_back(
            fmt::format("'{}{}[{}]{}'", others, name, zsh_text(entry.text), zsh_value(entry, program)));
      }
    }
  }
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const ManualEntry& entry = command.arguments[i];
    specifications.push_back(
        fmt::format("'{}{}'", entry.repeats ? "*" : std::to_string(i + 1), zsh_value(entry, program)));
  }
  return specifications;
}

}  // namespace

std::string bash_completion(const Manual& program) {
  std::string of_commands, of_values;
  for_each_command(program, [&](const Manual& command) {
    std::vector<std::string> options, words = names_in(command.commands);
    for (const ManualGroup& group : command.options) {
      for (const ManualEntry& entry : group.entries) {
        options.insert(options.end(), entry.names.begin(), entry.names.end());
        if (entry.value.empty() || entry.value.starts_with('[')) continue;  // nothing has to follow
        std::vector<std::string> places;
        for (const std::string& name : entry.names)
          places.push_back(fmt::format("\"{} {}\"", command.full_name, name));
        of_values += fmt::format("    {}) ", join(places, "|"));
        const std::vector<std::string> values = words_for(entry, program);
        of_values += is_path(entry)   ? "return ;;\n"
                     : values.empty() ? "compopt +o default 2> /dev/null; return ;;\n"
                                      : fmt::format("options='' words='{}' ;;\n", join(values, " "));
      }
    }
    for (const ManualEntry& entry : command.arguments) {
      const std::vector<std::string> values = words_for(entry, program);
      words.insert(words.end(), values.begin(), values.end());
    }
    of_commands += fmt::format("    \"{}\") options='{}' words='{}' ;;\n", command.full_name,
                               join(options, " "), join(words, " "));
  });
  return fmt::format(R"(# Completion of convoke for bash, written by `convoke completion bash`.
_convoke() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=convoke options words i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command" in
{}  esac
  # The value of an option: one of a few words, a path (bash completes it), or the user's own.
  case "$command $previous" in
{}  esac
  [[ $current == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _convoke convoke
)",
                     known_commands(program), of_commands, of_values);
}

std::string zsh_completion(const Manual& program) {
  std::string of_commands;
  for_each_command(program, [&](const Manual& command) {
    of_commands += fmt::format("    (\"{}\")\n", command.full_name);
    if (!command.commands.empty()) {
      of_commands += "      commands=(\n";
      for (const Manual& each : command.commands)
        of_commands += fmt::format("        '{}:{}'\n", each.name, zsh_text(each.description));
      of_commands += "      )\n      ((CURRENT == 2)) && _describe command commands\n";
    }
    const std::vector<std::string> specifications = zsh_specifications(command, program);
    of_commands += fmt::format("      _arguments \\\n        {} ;;\n", join(specifications, " \\\n        "));
  });
  return fmt::format(R"(#compdef convoke
# Completion of convoke for zsh, written by `convoke completion zsh`.
_convoke_recipes() {{
  local -a recipes=({})
  _alternative 'recipes:recipe:compadd -a recipes' 'files:file:_files'
}}
_convoke() {{
  local command=convoke
  local -a commands
  integer i used=1
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command $words[i]" in
      ({}) command+=" $words[i]"; used=i ;;
    esac
  done
  shift $((used - 1)) words
  ((CURRENT -= used - 1))
  case $command in
{}  esac
}}
_convoke "$@"
)",
                     join(recipes(), " "), known_commands(program), of_commands);
}

}  // namespace convoke::app
