#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/manual.hpp"
#include "cli/options.hpp"
#include "commands.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/run/environment.hpp"

namespace convoke::app {
namespace {

constexpr const char* kHelpHelp = R"(Examples:
  convoke help                             all commands
  convoke help train                       the same as convoke train --help
  convoke help study analyze
  convoke help --man train | man -l -      the manual page of a command
  convoke help --install ~/.local/share    manual pages and completion for bash and zsh
)";
constexpr const char* kCompletionHelp = R"(Examples:
  source <(convoke completion bash)                           in this shell
  echo 'source <(convoke completion bash)' >> ~/.bashrc       in every new bash
  convoke completion zsh > ~/.zfunc/_convoke                  for zsh, with ~/.zfunc in fpath
)";

struct HelpOptions {
  std::vector<std::string> command;
  bool man = false;
  std::string share;
};

// Writes <share>/man/man1/*.1 and the completion scripts where the shells look for them.
void install_texts(const Manual& program, const std::filesystem::path& share) {
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories((share / file).parent_path());
    os::replace_text(share / file, text);
  };
  for_each_command(program, [&](const Manual& command) {
    write("man/man1/" + man_page_name(command), man_page(command, run::convoke_version()));
  });
  write("bash-completion/completions/convoke", bash_completion(program));
  write("zsh/site-functions/_convoke", zsh_completion(program));
}

int help(const HelpOptions& options, const Manual& program) {
  if (!options.share.empty()) {
    install_texts(program, options.share);
    return EXIT_SUCCESS;
  }
  const Manual* manual = &program;
  for (const std::string& name : options.command) {
    if (manual->commands.empty()) {
      throw Error(fmt::format("{} has no subcommand \"{}\"", manual->full_name, name),
                  "see " + manual->full_name + " --help");
    }
    manual = &find_in(manual->commands, name, "command");
  }
  fmt::print("{}", options.man ? man_page(*manual, run::convoke_version()) : help_text(*manual));
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_help(CLI::App& parser) {
  auto options = std::make_shared<HelpOptions>();
  add_option(parser, "command", options->command, "COMMAND", "The command; all of them by default");
  CLI::Option* man =
      parser.add_flag("--man", options->man, "Print the source of its manual page, for man -l");
  add_option(parser, "--install", options->share, "FOLDER",
             "Write all manual pages and completion scripts below a folder such as ~/.local/share")
      ->excludes(man);
  parser.footer(kHelpHelp);
  return [options, &program = *parser.get_parent()] { return help(*options, manual_of(program)); };
}

std::function<int()> add_completion(CLI::App& parser) {
  auto shell = std::make_shared<std::string>();
  add_choice(parser, "shell", *shell, {"bash", "zsh"}, "The shell that is to complete commands")->required();
  parser.footer(kCompletionHelp);
  return [shell, &program = *parser.get_parent()] {
    const Manual manual = manual_of(program);
    fmt::print("{}", *shell == "bash" ? bash_completion(manual) : zsh_completion(manual));
    return EXIT_SUCCESS;
  };
}

}  // namespace convoke::app
