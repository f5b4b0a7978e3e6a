// The help, the manual pages and the completion scripts of the real binary: readable, complete, and accepted
// by the programs that read them.
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/pattern.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"
#include "support/source_path.hpp"

namespace {

// With this, MPI_Init fails: a command that works has not called it.
Outcome without_mpi(const std::string& arguments) { return program(arguments, kWithoutMpi); }

// Returns the names that the error for an unknown command lists: all commands, independent of the help.
std::vector<std::string> known_commands() {
  std::string known = without_mpi("no-such-command").text;
  known.erase(0, known.find("known: ") + 7);
  std::replace(known.begin(), known.end(), ',', ' ');
  return words_in(known);
}

std::vector<std::string> all_commands() {
  std::vector<std::string> commands{""};
  for (const std::string& command : known_commands()) commands.push_back(command);
  commands.insert(commands.end(), {"study analyze", "study advise", "study predict"});
  return commands;
}

// Returns the words that complete `line` in bash.
std::vector<std::string> completed_in_bash(const std::string& line, const std::string& script) {
  const bool fresh = line.ends_with(' ');
  return words_in(shell("bash -c 'source " + script + "; COMP_WORDS=(" + line + (fresh ? "\"\"" : "") +
                        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _convoke; echo \"${COMPREPLY[@]}\"'")
                      .text);
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("help has at most 100 columns of ASCII, and no words of the parser") {
  const std::string artifact(
      R"(\b(INT|UINT|FLOAT|BOOLEAN|REQUIRED|Needs:|Excludes:|POSITIVE|NONNEGATIVE)\b| in \[|:INT|:\{)");
  for (const std::string& command : all_commands()) {
    const Outcome help = without_mpi("help " + command);
    CAPTURE(command);
    CHECK(help.code == 0);
    CHECK(help.text == without_mpi(command + " --help").text);
    CHECK(help.says("\nUsage: convoke" + (command.empty() ? "" : " " + command) + " "));
    CHECK(!first_match(help.text, "\nUsage: convoke.*[^ \n]\n").empty());  // all arguments have names
    CHECK(help.says("Examples:\n"));
    for (const std::string& line : lines_of(help.text)) {
      CAPTURE(line);
      CHECK(line.size() <= 100);
      CHECK(std::all_of(line.begin(), line.end(), [](unsigned char c) { return c >= ' ' && c < 127; }));
      CHECK(first_match(line, artifact).empty());
    }
  }
}

TEST_CASE("help shows the range, the default and the condition of an option") {
  const Outcome help = without_mpi("help inspect");
  CAPTURE(help.text);
  help.shows("  --sample N ");
  CHECK(!first_match(help.text, R"(samples\s+\(1\s+to\s+50000;\s+default\s+5000\))").empty());
  CHECK(!first_match(help.text, R"(--augmented RECIPE[^-]+\(only\s+with\s+--html\))").empty());
  CHECK(without_mpi("help slurm").says("  --launcher mpirun|srun "));
  CHECK(without_mpi("help import").says("(required)"));
}

TEST_CASE("the program's help lists every command once, by workflow") {
  const Outcome help = without_mpi("help");
  for (const char* workflow : {"Prepare data:", "Train:", "Use and compare results:", "Measure and scale:",
                               "Run on a cluster:", "Help:"}) {
    CHECK(help.times(std::string(workflow) + "\n") == 1);
  }
  std::vector<std::string> listed;
  for (const std::string& line : lines_of(help.text)) {
    const Match match = first_match(line, "^  ([a-z]+)  +[A-Z]");
    if (!match.empty()) listed.push_back(match[1]);
  }
  std::vector<std::string> known = known_commands();
  std::sort(listed.begin(), listed.end());
  std::sort(known.begin(), known.end());
  CHECK(known.size() >= 18);
  CHECK(listed == known);
}

TEST_CASE("help of an unknown command suggests the nearest") {
  without_mpi("help trai").ends(1).shows("error: unknown command \"trai\" (did you mean \"train\"?)\n");
  CHECK(without_mpi("help study predicct").says("(did you mean \"predict\"?)"));
  without_mpi("help slurm train")
      .ends(1)
      .shows("error: convoke slurm has no subcommand \"train\"\n  hint: see convoke slurm --help\n");
}

TEST_CASE("groff formats every manual page without a warning") {
  if (shell("command -v groff").code != 0) return skip("needs groff");
  const TemporaryFolder folder;
  const std::string warnings = (folder / "warnings").string();
  for (const std::string& command : all_commands()) {
    CAPTURE(command);
    const Outcome page =
        without_mpi("help --man " + command + " | { groff -ww -man -Tascii -P-cbou 2> " + warnings + "; }");
    CHECK(page.code == 0);
    CHECK(bytes_of(warnings).empty());
    for (const char* section : {"NAME\n", "SYNOPSIS\n", "EXAMPLES\n"}) CHECK(page.says(section));
    CHECK(page.says("convoke" +
                    std::string(command.empty() ? "" : "-" + command.substr(0, command.find(' ')))));
  }
}

TEST_CASE("help --install writes every manual page and both completion scripts") {
  const TemporaryFolder folder;
  const std::string share = (folder / "share").string();
  REQUIRE(without_mpi("help --install " + share).code == 0);
  std::set<std::string> expected{"convoke.1",
                                 "convoke-study-advise.1",
                                 "convoke-study-analyze.1",
                                 "convoke-study-card.1",
                                 "convoke-study-predict.1",
                                 "convoke-study-table.1"};
  for (const std::string& command : known_commands()) expected.insert("convoke-" + command + ".1");
  std::set<std::string> found;
  for (const fs::path& page : entries_in(share + "/man/man1")) found.insert(page.filename().string());
  CHECK(found == expected);
  CHECK(shell("cat " + share + "/man/man1/convoke-train.1").text == without_mpi("help --man train").text);
  CHECK(shell("cat " + share + "/bash-completion/completions/convoke").text ==
        without_mpi("completion bash").text);
  CHECK(shell("cat " + share + "/zsh/site-functions/_convoke").text == without_mpi("completion zsh").text);
}

TEST_CASE("bash completes commands, options and values") {
  const TemporaryFolder folder;
  const std::string script = (folder / "convoke").string();
  REQUIRE(without_mpi("completion bash > " + script).code == 0);
  const Outcome syntax = shell("bash -n " + script);
  CHECK(syntax.text.empty());
  CHECK(syntax.code == 0);
  const auto completed = [&](const std::string& line) { return completed_in_bash(line, script); };

  Words commands = completed("convoke "), known = known_commands();
  std::sort(commands.begin(), commands.end());
  std::sort(known.begin(), known.end());
  CHECK(commands == known);
  CHECK(completed("convoke tra") == Words{"train"});
  CHECK(completed("convoke train --outp") == Words{"--output-node", "--outputs", "--output"});
  CHECK(completed("convoke train mnist-s") == Words{"mnist-sync"});
  CHECK(completed("convoke summary resnet50-") == Words{"resnet50-keras"});
  CHECK(completed("convoke study ana") == Words{"analyze"});
  CHECK(completed("convoke study analyze --up") == Words{"--up-to"});
  CHECK(completed("convoke slurm --launcher ") == Words{"mpirun", "srun"});
  CHECK(completed("convoke slurm ens") == Words{"ensemble"});
  CHECK(completed("convoke help comp") == Words{"compare", "completion"});
  CHECK(completed("convoke completion z") == Words{"zsh"});
  CHECK(completed("convoke train --output ").empty());  // a path, which bash itself completes
  CHECK(completed("convoke train --member ").empty());
}

TEST_CASE("zsh completes commands, options and values") {
  if (shell("command -v zsh").code != 0) return skip("needs zsh");
  const TemporaryFolder folder;
  REQUIRE(without_mpi("completion zsh > " + (folder / "_convoke").string()).code == 0);
  const Outcome syntax = shell("zsh -n " + (folder / "_convoke").string());
  CHECK(syntax.text.empty());
  CHECK(syntax.code == 0);
  // A zsh in a separate terminal: it gets the line and a tab, and then prints its line.
  const auto completed = [&](const std::string& line) {
    return shell("cd " + folder.path().string() + " && zsh -f " + source_path("test/apps/zsh_complete.zsh") +
                 " " + folder.path().string() + " '" + line + "'")
        .text;
  };
  CHECK(completed("convoke tra") == "convoke train \n");
  CHECK(completed("convoke train --out") == "convoke train --output \n");
  CHECK(completed("convoke train mnist-s") == "convoke train mnist-sync \n");
  CHECK(completed("convoke study ana") == "convoke study analyze \n");
  CHECK(completed("convoke study analyze --up") == "convoke study analyze --up-to \n");
  CHECK(completed("convoke slurm --launcher sr") == "convoke slurm --launcher srun \n");
  CHECK(completed("convoke slurm ens") == "convoke slurm ensemble \n");
  CHECK(completed("convoke help compl") == "convoke help completion \n");
}
