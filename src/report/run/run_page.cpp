#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/report/page.hpp"
#include "report/run/sections.hpp"

// The overview of a run's page, and its setup: command, machine and recipe.

namespace convoke::report {
namespace {

std::string kind_of(const RunRecord& run) {
  const Settings& known = run.complete() ? run.summary : table_at(run.recipe, "train");
  if (text_at(known, "mode") != "ensemble") return "one synchronous model";
  const double members =
      run.complete() ? number_at(run.summary, "members") : number_at(run.recipe, "ensemble.members");
  const std::vector<Settings> facts = tables_at(run.summary, "member_facts");
  if (std::string member = run.one_member(); !member.empty()) return member;  // trained in a separate job
  if (std::isnan(members)) return "an ensemble";
  const std::size_t voters = tables_at(run.summary, "test.members").size();
  return voters == 0 || voters == facts.size()
             ? fmt::format("ensemble of {:g}", members)
             : fmt::format("ensemble of {:g}, {} of which vote", members, voters);
}

std::string four_digits(double number) { return fmt::format("{:.4f}", number); }
std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

bool votes(const RunRecord& run) { return tables_at(run.summary, "test.members").size() > 1; }

std::string vote_text(const RunRecord& run) { return text_at(run.summary, "test.rule") + " vote"; }

// For an ensemble each name says whether the score belongs to the vote or to the mean of the members'
// probabilities.
Facts scores(const RunRecord& run) {
  Facts facts;
  const auto of = [&](const std::string& what) { return votes(run) ? ", " + what : std::string(); };
  const std::string of_vote = of(vote_text(run)), of_mean = of("mean probabilities");
  const auto score = [&](const std::string& name, const char* path) {
    add_fact(facts, name, run.summary, path, four_digits);
  };
  add_fact(facts, "Test accuracy" + of_vote, run.summary, "test.accuracy", percent);
  add_fact(facts, "Validation accuracy" + of("mean of the members"), run.summary, "validation_accuracy",
           percent);
  score("F1 (weighted)" + of_vote, "test.f1");
  score(fmt::format("Top-{:g} accuracy{}", number_at(run.summary, "test.top_k"), of_mean),
        "test.top_k_accuracy");
  score("ROC AUC" + of_mean, "test.roc_auc");
  score("Quadratic kappa" + of_vote, "test.quadratic_kappa");
  score("Calibration error (ECE)" + of_mean, "test.ece");
  return facts;
}

std::string scores_note(const RunRecord& run) {
  const std::string samples = count_text(number_at(run.summary, "test.samples"));
  if (!votes(run)) return fmt::format("Scores are of {} test samples.", samples);
  return fmt::format(
      "Scores are of {} test samples. Scores of the {} are those of the elected classes. Scores that need a "
      "probability of each class use the mean of the members' probabilities, whatever the rule.",
      samples, vote_text(run));
}

std::string of_all(double count, double all) {
  return count_text(count) + " of " + (std::isfinite(all) ? count_text(all) : "?");
}

Facts costs(const RunRecord& run) {
  Facts facts;
  const auto add = [&](const char* name, const char* path, const auto& text) {
    add_fact(facts, name, run.summary, path, text);
  };
  add("Makespan", "makespan_seconds", format_duration);
  facts.emplace_back("Ranks x threads", fmt::format("{:g} x {:g}", number_at(run.summary, "ranks"),
                                                    number_at(run.summary, "threads")));
  if (const Workers workers = run.workers(); workers.oversubscribed()) {
    facts.emplace_back("Cores", fmt::format("{}, shared", workers.cores));
  }
  add("Images per second", "images_per_second", count_text);
  add("Core-seconds", "core_seconds", [](double seconds) { return fmt::format("{:.1f}", seconds); });
  const std::vector<Settings> members = tables_at(run.summary, "member_facts");
  double trained = 0;  // by the member that trained longest
  for (const Settings& member : members) trained = std::max(trained, number_at(member, "epochs"));
  add("Epochs", "epochs",
      [&](double all) { return 0 < trained && trained < all ? of_all(trained, all) : count_text(all); });
  if (members.size() == 1 && number_at(members.front(), "stopped_at_step") > 0) {
    facts.emplace_back("Stopped early after",
                       count_text(number_at(members.front(), "stopped_at_step")) + " steps");
  }
  add("Batch", "batch", count_text);
  add("Micro-batch", "micro_batch", count_text);
  add("Parameters", "parameters", count_text);
  return facts;
}

// The status of a run that has not ended.
void add_unfinished(Page& page, const RunRecord& run) {
  page.warning(
      "This run is not complete: there is no summary.json. It is running, was stopped, or has failed. This "
      "page shows the results so far.");
  Facts facts{{"Workers", workers_text(run)}};
  const auto add_progress = [&](const char* name, const char* done, const char* all) {
    add_fact(facts, name, run.status, done,
             [&](double count) { return of_all(count, number_at(run.status, all)); });
  };
  add_progress("Epoch", "epoch", "epochs");
  add_progress("Step", "step", "steps");
  add_fact(facts, "Loss of the epoch so far", run.status, "loss", four_digits);
  add_fact(facts, "Accuracy of the epoch so far", run.status, "accuracy", four_digits);
  add_fact(facts, "Images/s", run.status, "images_per_second",
           [](double rate) { return fmt::format("{:.0f}", rate); });
  page.facts(facts);
}

void add_overview(Page& page, const RunRecord& run, const std::string& made_by) {
  page.section("Overview");
  if (!run.complete()) add_unfinished(page, run);
  if (const Workers workers = run.workers(); workers.oversubscribed()) {
    page.warning("Oversubscribed: " + oversubscription_note(workers));
  }
  if (value_at(run.summary, "emulated") != nullptr) {
    page.warning(
        "Emulated: a study trained the members one after another, each alone. The times are those of all "
        "members at once, without competition for memory and caches.");
  }
  if (run.resumed()) {
    page.warning(
        "Resumed: the times, the images per second and the core-seconds are those since the run was resumed "
        "last; epochs and scores are those of the whole run.");
  }
  if (const std::string note = build_note(run.environment); !note.empty()) page.warning(note);
  const std::string provenance = text_at(run.summary, "provenance");
  if (data::is_synthetic(provenance)) page.warning(data::provenance_note(provenance));
  for (const Settings& member : tables_at(run.summary, "member_facts")) {
    if (const std::string failure = text_at(member, "failure"); !failure.empty()) {
      page.warning(fmt::format("Member {:g} left the vote: {}", number_at(member, "member"), failure));
    }
  }
  for (const Settings& member : tables_at(run.summary, "test.members")) {
    if (member.find("loss") != nullptr && !std::isfinite(number_at(member, "loss"))) {
      page.warning(fmt::format("The test loss of member {:g} is not finite: its predictions are unusable",
                               number_at(member, "member")));
    }
  }
  if (run.complete()) {
    page.facts(scores(run));
    page.facts(costs(run));
    page.paragraph(scores_note(run) +
                   " The makespan is the time of the slowest rank from before loading to after the verdict; "
                   "core-seconds are the makespan times the cores of the worker threads.");
    if (run.evaluation.empty()) {
      page.paragraph(
          "The folder has no evaluation.json: classes, calibration and mistakes cannot be shown. `convoke "
          "evaluate --json` computes them.");
    }
  }
  if (!provenance.empty() && !data::is_synthetic(provenance))
    page.paragraph("Source of the samples: " + provenance);
  page.paragraph(made_by);
}

}  // namespace

Page run_page(const RunRecord& run, const std::string& made_by) {
  const std::string date = text_at(run.environment, "date");
  Page page(run.name(),
            fmt::format("{}, {}{}", kind_of(run), workers_text(run), date.empty() ? "" : ", " + date));
  add_overview(page, run, made_by);
  add_curves(page, run);
  add_members(page, run);
  add_classes(page, run);
  add_roc(page, run);
  add_mistakes(page, run);
  add_calibration(page, run);
  add_times(page, run);
  add_setup(page, run);
  return page;
}

std::string count_text(double number) { return format_count(std::llround(number)); }

std::vector<std::vector<double>> rows_at(const Settings& settings, std::string_view path) {
  std::vector<std::vector<double>> rows;
  for (const Value& row : list_at(settings, path)) rows.push_back(numbers_at(Settings{{"row", row}}, "row"));
  return rows;
}

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
