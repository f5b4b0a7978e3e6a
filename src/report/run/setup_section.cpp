#include <fmt/format.h>

#include <cmath>
#include <set>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "report/run/sections.hpp"

// Command, machine and recipe.

namespace convoke::report {

std::string count_text(double number) { return format_count(std::llround(number)); }

std::string workers_text(const RunRecord& run) {
  const Settings& known = run.complete() ? run.summary : run.environment;
  const std::string text = fmt::format("{} x {}", counted(count_at(known, "ranks").value_or(0), "rank"),
                                       counted(count_at(known, "threads").value_or(0), "thread"));
  const Workers workers = run.workers();
  if (!workers.oversubscribed()) return text;
  return fmt::format("{} on {} [OVERSUBSCRIBED]", text, counted(workers.cores, "core"));
}

std::string oversubscription_note(const Workers& workers) {
  return fmt::format(
      "{} worker threads shared {}: times, rates and costs differ from those on a machine with a core for "
      "each.",
      workers.threads, counted(workers.cores, "core"));
}

std::string repeating_command(const RunRecord& run) {
  if (const std::vector<std::string> runs = texts_at(run.summary, "gathered_from"); !runs.empty()) {
    std::string command = "convoke gather";
    for (const std::string& each : runs) command += " " + shell_word(each);
    return command + " --output NEW-FOLDER";
  }
  const double ranks = number_at(run.environment, "ranks");
  std::string command;
  if (ranks > 1) {
    command =
        fmt::format("mpirun -n {:g} {}", ranks, run.workers().oversubscribed() ? "--oversubscribe " : "");
  }
  command += "convoke train " + shell_word((run.folder / "recipe.toml").lexically_normal().string());
  if (const auto threads = count_at(run.environment, "threads")) {
    command += fmt::format(" --set run.threads={}", *threads);
  }
  // A member of an ensemble that was trained in a separate job.
  const std::vector<Settings> members = tables_at(run.summary, "member_facts");
  const double all = number_at(run.recipe, "ensemble.members");
  if (text_at(run.summary, "mode") == "ensemble" && members.size() == 1 && all > 1) {
    command += fmt::format(" --member {:g}", number_at(members.front(), "member"));
  }
  return command;
}

std::string build_note(const Settings& environment) {
  const std::string type = text_at(environment, "build_type");
  if (type.empty() || type == "Release") return "";
  return fmt::format("Not a release: the program was built as \"{}\". Times of a release build are shorter.",
                     type);
}

Facts environment_facts(const Settings& environment) {
  std::set<std::string> hosts;
  for (const Settings& placement : tables_at(environment, "placements"))
    hosts.insert(text_at(placement, "host"));
  const auto number = [&](const char* key) { return fmt::format("{:g}", number_at(environment, key)); };
  return {{"Date", text_at(environment, "date")},
          {"Ranks", number("ranks")},
          {"Threads of a rank", number("threads")},
          {"Nodes", number("nodes")},
          {"Hosts", join(std::vector<std::string>(hosts.begin(), hosts.end()))},
          {"Processor", text_at(environment, "cpu")},
          {"Cores of a node", number("cores")},
          {"Logical processors of a node", number("logical_cpus")},
          {"Instruction set", text_at(environment, "instruction_set")},
          {"Convoke", fmt::format("{} ({})", text_at(environment, "convoke"), text_at(environment, "build"))},
          {"Build type", text_at(environment, "build_type")},
          {"Compiler", text_at(environment, "compiler")},
          {"MPI", text_at(environment, "mpi")},
          {"oneDNN", text_at(environment, "onednn")}};
}

void add_setup(Page& page, const RunRecord& run) {
  page.section("Setup");
  if (!run.environment.empty()) {
    page.heading("The command that repeats the run");
    page.code(repeating_command(run));
    page.paragraph("It was started by: " + text_at(run.environment, "command"));
    page.heading("Environment");
    Table table{{"property", "value"}, {}};
    for (const auto& [name, value] : environment_facts(run.environment)) table.rows.push_back({name, value});
    page.add(table);
    Table placements{{"rank", "host", "cores", "quota"}, {}};
    for (const Settings& placement : tables_at(run.environment, "placements")) {
      placements.rows.push_back({Cell::count(count_at(placement, "rank").value_or(0)),
                                 text_at(placement, "host"), text_at(placement, "cores"),
                                 Cell::number(number_at(placement, "quota"))});
    }
    if (placements.rows.size() > 1) {
      page.heading("Binding");
      page.add(placements);
    }
  }
  if (!run.recipe_text.empty()) {
    page.heading("Recipe");
    page.paragraph("Every key with its value, including defaults.");
    page.folded("recipe.toml", run.recipe_text);
  }
}

}  // namespace convoke::report
