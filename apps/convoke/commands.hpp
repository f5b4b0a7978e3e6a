#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace convoke::app {

/// Declares a command's options on its parser, and returns the function that runs the command after parsing.
/// That function returns the exit code, and throws Error for mistakes that the user can correct.
using AddCommand = std::function<int()>(CLI::App& parser);

// The commands, by workflow: a folder for each, and a file for each command.
AddCommand add_prepare, add_inspect, add_synthesize;                           // data
AddCommand add_summary, add_layers, add_train, add_distill;                    // training
AddCommand add_watch, add_supervise, add_gather;                               // training
AddCommand add_evaluate, add_predict, add_report, add_compare, add_verify;     // results
AddCommand add_import, add_export;                                             // interop
AddCommand add_study, add_study_analyze, add_study_advise, add_study_predict;  // studies
AddCommand add_study_table, add_study_card;                                    // studies
AddCommand add_bench;                                                          // studies
AddCommand add_slurm, add_doctor, add_info;                                    // cluster
AddCommand add_help, add_completion;                                           // cli

/// A line of a table of commands.
struct Command {
  const char* group;  ///< the heading it has in the help
  const char* name;
  const char* description;  ///< a sentence without its full stop
  AddCommand* add;
};

/// Adds the commands of a table to a parser. Returns a function that runs the chosen command, or returns -1
/// if none was chosen.
template <class Table>
std::function<int()> add_commands(CLI::App& parser, const Table& table) {
  std::vector<std::pair<CLI::App*, std::function<int()>>> commands;
  for (const Command& command : table) {
    CLI::App* subcommand = parser.add_subcommand(command.name, command.description);
    subcommand->group(command.group);
    commands.emplace_back(subcommand, command.add(*subcommand));
  }
  return [commands] {
    for (const auto& [subcommand, run] : commands) {
      if (subcommand->parsed()) return run();
    }
    return -1;
  };
}

}  // namespace convoke::app
