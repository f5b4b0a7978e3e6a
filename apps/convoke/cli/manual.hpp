#pragma once
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace convoke::app {

/// An option, an argument or a subcommand, as the help shows it.
struct ManualEntry {
  std::vector<std::string> names;  ///< {"-o", "--output"}; empty: an argument
  std::string value;               ///< what follows: "FOLDER", "mpirun|srun", "RUN..."; empty: a flag
  std::string text;                ///< what it does, its range and its default
  bool repeats = false;            ///< may be given several times
  bool required = false;

  /// "-o, --output FOLDER"
  std::string label() const;
  /// {"mpirun", "srun"}, where the value is one of a few.
  std::vector<std::string> choices() const;
};

/// Part of the text below the options.
struct ManualBlock {
  enum class Kind { kHeading, kLines, kParagraph };
  Kind kind;
  std::string text;  ///< a paragraph is one line
};

struct ManualGroup {
  std::string title;
  std::vector<ManualEntry> entries;
};

/// The description of a command. The help, the manual page and the completion scripts are made from it.
struct Manual {
  std::string name;         ///< "analyze"
  std::string full_name;    ///< "convoke study analyze"
  std::string description;  ///< one sentence
  std::string group;        ///< the workflow that it belongs to
  std::vector<ManualEntry> arguments;
  std::vector<ManualGroup> options;
  std::vector<Manual> commands;     ///< its subcommands
  std::vector<ManualBlock> footer;  ///< examples and explanations

  /// "convoke study analyze [OPTIONS] FILE.csv..."
  std::string usage() const;
  /// The subcommands by their workflow, in the order of their first one.
  std::vector<ManualGroup> command_groups() const;
};

/// Reads the manual of a command and its subcommands from its parser. In the parser's footer, an unindented
/// line that ends with a colon is a heading, indented lines stay as they are, and other lines are paragraphs,
/// with an empty line between two of them.
Manual manual_of(const CLI::App& parser);

/// Calls action(command) for the command of `manual` and all commands below it.
void for_each_command(const Manual& manual, const std::function<void(const Manual&)>& action);

/// Returns the output of `--help`, in at most 100 columns.
std::string help_text(const Manual& manual);

/// "convoke-study-analyze.1"
std::string man_page_name(const Manual& manual);

/// The manual page of a command, for `man`: macros of the package man, in ASCII.
std::string man_page(const Manual& manual, const std::string& version);

/// A script that completes commands, options and their values in bash, for share/bash-completion/completions.
std::string bash_completion(const Manual& program);

/// Returns such a script for zsh, with descriptions, for share/zsh/site-functions.
std::string zsh_completion(const Manual& program);

}  // namespace convoke::app
