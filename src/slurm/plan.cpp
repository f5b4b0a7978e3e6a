#include "convoke/slurm/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::slurm {
namespace {

// As many numbers as Slurm's arrays have (MaxArraySize is 1001) where a cluster does not say otherwise.
constexpr std::int64_t kLongestArray = 1000;

// A run's folder has the number of its job, which a job keeps that is put back into the queue.
constexpr const char* kRun = "run=${1:-runs/$SLURM_JOB_NAME-$SLURM_JOB_ID}  # the folder of the run\n";

std::string numbers(std::int64_t count, std::int64_t at_once) {
  const std::string all = fmt::format("0-{}", count - 1);
  return at_once > 0 ? fmt::format("{}%{}", all, at_once) : all;
}

// "0-3,8" of rising numbers.
std::string list_of(const std::vector<std::int64_t>& rising) {
  std::string list;
  for (std::size_t i = 0; i < rising.size();) {
    std::size_t last = i;
    while (last + 1 < rising.size() && rising[last + 1] == rising[last] + 1) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ",", rising[i]);
    if (last > i) list += fmt::format("-{}", rising[last]);
    i = last + 1;
  }
  return list;
}

// What comes next waits for what was added last.
std::vector<std::string> last_of(const Plan& plan) {
  if (plan.submissions.empty()) return {};
  return {plan.submissions.back().variable};
}

// A job of one rank that looks at what others have left.
Layout small(const Layout& layout) {
  Layout one = layout;
  one.nodes = 1;
  return one;
}

void add_compare(Plan& plan, const JobOptions& options, const std::vector<std::string>& after,
                 const std::string& runs) {
  const Layout one{.nodes = 1, .ranks_per_node = 1, .cpus_per_rank = 1};
  plan.scripts.push_back(make_script(options, "compare.sh", "its runs side by side; arguments: their folders",
                                     one, {.run = "", .setup = "", .arguments = "compare \"$@\""}));
  plan.submissions.push_back(
      {.variable = "compare", .script = "compare.sh", .after = after, .arguments = runs});
}

}  // namespace

void add_prepare(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& source,
                 const std::string& dataset, const std::string& more) {
  std::string arguments = fmt::format("prepare {} --output {}", shell_word(source), shell_word(dataset));
  if (!more.empty()) arguments += " " + more;
  plan.scripts.push_back(make_script(options, "prepare.sh", "its dataset, made by all ranks", layout,
                                     {.run = "", .setup = "", .arguments = arguments}));
  plan.submissions.push_back({.variable = "prepare", .script = "prepare.sh", .after = last_of(plan)});
  plan.result = dataset;
}

void add_train(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& recipe) {
  plan.scripts.push_back(make_script(options, "train.sh", "trained by all ranks together", layout,
                                     {.run = kRun,
                                      .setup = "",
                                      .arguments = fmt::format("train {} --output \"$run\" --resume", recipe),
                                      .resumes = true}));
  plan.submissions.push_back({.variable = "train",
                              .script = "train.sh",
                              .after = last_of(plan),
                              .then = fmt::format("run=runs/{}-${{train%%;*}}\n", shell_word(options.name))});
  plan.result = "$run";
}

void add_ensemble(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& recipe,
                  std::int64_t members, std::int64_t at_once) {
  plan.scripts.push_back(make_script(
      options, "member.sh", "each job of the array trains one member", layout,
      {.run = "run=${1:-runs/$SLURM_JOB_NAME-$SLURM_ARRAY_JOB_ID}/member-$SLURM_ARRAY_TASK_ID\n",
       .setup = "",
       .arguments = fmt::format("train {} --set ensemble.members={} --member \"$SLURM_ARRAY_TASK_ID\" \\\n"
                                "  --output \"$run\" --resume",
                                recipe, members),
       .resumes = true},
      numbers(members, at_once)));
  plan.submissions.push_back(
      {.variable = "member",
       .script = "member.sh",
       .after = last_of(plan),
       .then = fmt::format("run=runs/{}-${{member%%;*}}\n", shell_word(options.name))});
  plan.scripts.push_back(make_script(options, "gather.sh", "its members become one ensemble that votes",
                                     small(layout),
                                     {.run = "run=${1:?the folder with those of the members}\n",
                                      .setup = "",
                                      .arguments = "gather \"$run\"/member-* --output \"$run/ensemble\""}));
  plan.submissions.push_back({.variable = "gather",
                              .script = "gather.sh",
                              .after = {"member"},
                              .arguments = "\"$run\"",
                              .then = "run=$run/ensemble\n"});
  plan.result = "$run";
}

void add_sweep(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& recipe,
               const std::vector<Changes>& variants, std::int64_t at_once) {
  std::string setup = "changes=(  # by the job's number in the array\n";
  for (const Changes& variant : variants) {
    setup += fmt::format("  \"--set {}\"\n", fmt::join(variant, " --set "));
  }
  setup += ")\n";
  const auto count = static_cast<std::int64_t>(variants.size());
  plan.scripts.push_back(make_script(
      options, "sweep.sh", "each job of the array trains one variant", layout,
      {.run = "run=${1:-runs/$SLURM_JOB_NAME-$SLURM_ARRAY_JOB_ID}/$SLURM_ARRAY_TASK_ID\n",
       .setup = setup,
       .arguments =
           fmt::format("train {} ${{changes[$SLURM_ARRAY_TASK_ID]}} --output \"$run\" --resume", recipe),
       .resumes = true},
      numbers(count, at_once)));
  plan.submissions.push_back({.variable = "sweep",
                              .script = "sweep.sh",
                              .after = last_of(plan),
                              .then = fmt::format("run=runs/{}-${{sweep%%;*}}\n", shell_word(options.name))});
  std::string runs;
  for (std::int64_t i = 0; i < count; ++i) runs += fmt::format("{}\"$run/{}\"", i == 0 ? "" : " ", i);
  add_compare(plan, options, {"sweep"}, runs);
  plan.result = "$run";
}

void add_study(Plan& plan, const JobOptions& job, const std::vector<StudyJobs>& sizes, const StudyPlan& how) {
  Layout largest = sizes.front().layout;
  for (const StudyJobs& size : sizes) {
    largest.nodes = std::max(largest.nodes, size.layout.nodes);
    largest.memory_mib = std::max(largest.memory_mib, size.layout.memory_mib);
  }
  const std::string study = "study \"$study/study.toml\" --output \"$study\"";
  const auto with = [](const std::string& options) { return options.empty() ? "" : " " + options; };
  const std::string run = "study=${1:?the folder of the study}\n";
  plan.scripts.push_back(
      make_script(job, "study.sh", "each job of the array is one run of the study", largest,
                  {.run = run,
                   .setup = "",
                   .arguments = study + " --task \"$((SLURM_ARRAY_TASK_ID + ${2:-0}))\"" + with(how.options),
                   .alone = true},
                  numbers(1, 0)));
  const Layout one{.nodes = 1, .ranks_per_node = 1, .cpus_per_rank = 1};
  plan.scripts.push_back(
      make_script(job, "collect.sh",
                  "what its runs have measured, in one table; and more of them until that is enough", one,
                  {.run = run + "here=${2:?the folder of these scripts}\n",
                   .setup = "",
                   .arguments = study + " --collect --more \"$here\"" + with(how.more_options),
                   .alone = true}));
  plan.before =
      fmt::format("study=${{1:-{}}}\n{} study \"$here/study.toml\" --output \"$study\"{} --begin\n",
                  how.folder.empty() ? fmt::format("studies/{}-$(date +%Y%m%d-%H%M%S)", shell_word(job.name))
                                     : shell_word(how.folder),
                  job.program, how.resumes ? " --resume" : "");
  add_study_runs(plan, sizes, how.at_once);
}

void add_study_runs(Plan& plan, const std::vector<StudyJobs>& sizes, std::int64_t at_once) {
  // What all have in common stands in the script, where it can be changed.
  const auto differ = [&](int Layout::*member) {
    return std::any_of(sizes.begin(), sizes.end(), [&](const StudyJobs& size) {
      return size.layout.*member != sizes.front().layout.*member;
    });
  };
  const bool ranks_differ = differ(&Layout::ranks_per_node), cpus_differ = differ(&Layout::cpus_per_rank);
  const std::vector<std::string> before = last_of(plan);
  std::vector<std::string> all;
  for (const auto& [layout, tasks] : sizes) {
    for (auto first = tasks.begin(); first != tasks.end();) {
      const std::int64_t base = *first / kLongestArray * kLongestArray;
      const auto last = std::lower_bound(first, tasks.end(), base + kLongestArray);
      std::vector<std::int64_t> in_array;
      for (; first != last; ++first) in_array.push_back(*first - base);
      all.push_back(fmt::format("runs_{}x{}x{}{}", layout.nodes, layout.ranks_per_node, layout.cpus_per_rank,
                                base == 0 ? "" : fmt::format("_from_{}", base)));
      std::string call = fmt::format("--nodes={}", layout.nodes);
      if (ranks_differ) call += fmt::format(" --ntasks-per-node={}", layout.ranks_per_node);
      if (cpus_differ) call += fmt::format(" --cpus-per-task={}", layout.cpus_per_rank);
      call += " --array=" + list_of(in_array);
      if (at_once > 0) call += fmt::format("%{}", at_once);
      plan.submissions.push_back({.variable = all.back(),
                                  .script = "study.sh",
                                  .after = before,
                                  .options = call,
                                  .arguments = "\"$study\"" + (base == 0 ? "" : fmt::format(" {}", base))});
    }
  }
  plan.submissions.push_back({.variable = "collect",
                              .script = "collect.sh",
                              .after = all,
                              .whatever = true,  // a run that failed is a line of the table
                              .arguments = "\"$study\" \"$here\""});
  plan.result = "$study";
}

void add_evaluate(Plan& plan, const JobOptions& options, const Layout& layout) {
  plan.scripts.push_back(make_script(
      options, "report.sh", "the run evaluated on the split that its recipe tests on", small(layout),
      {.run = "run=${1:?the folder of a run}\n", .setup = "", .arguments = "evaluate \"$run\""}));
  plan.submissions.push_back(
      {.variable = "report", .script = "report.sh", .after = last_of(plan), .arguments = "\"$run\""});
}

void start_after(Plan& plan, const std::string& job) {
  for (Submission& submission : plan.submissions) {
    if (submission.after.empty()) submission.after.push_back(job);
  }
}

std::string submit_script(const Plan& plan, const JobOptions& options) {
  std::string text = fmt::format(
      "#!/bin/bash\n# {}: submits its jobs, each behind those that it needs. Start it where the recipe is "
      "found.\n# Written by: {}\nset -euo pipefail\nhere=$(dirname \"$0\")\n",
      options.name, options.written_by);
  text += plan.before;
  for (const Submission& job : plan.submissions) {
    std::string call = "sbatch --parsable";
    if (!job.options.empty()) call += " " + job.options;
    if (!job.after.empty()) {
      std::vector<std::string> ids;
      for (const std::string& id : job.after) {
        const bool number = id.find_first_not_of("0123456789_") == std::string::npos;
        ids.push_back(number ? id : fmt::format("${{{}%%;*}}", id));
      }
      call += fmt::format(" --dependency=\"{}:{}\" --kill-on-invalid-dep=yes",
                          job.whatever ? "afterany" : "afterok", join(ids, ":"));
    }
    call += fmt::format(" \"$here/{}\"", job.script);
    if (!job.arguments.empty()) call += " " + job.arguments;
    text += fmt::format("\n{0}=$({1})\necho \"{2}: job ${{{0}%%;*}}{3}\"\n{4}", job.variable, call,
                        job.script, job.options.empty() ? "" : " (" + job.options + ")", job.then);
  }
  return text + fmt::format("\necho \"there will be: {}\"\n", plan.result);
}

}  // namespace convoke::slurm
