#include "convoke/slurm/job_set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::slurm {
namespace {

// Slurm's default limit for the jobs of an array (MaxArraySize is 1001).
constexpr std::int64_t kLongestArray = 1000;

constexpr const char* kWithoutVariables =
    R"sh(# Inside another job: Slurm would take its variables, such as its memory, for options of the new jobs.
[ -z "${SLURM_JOB_ID:-}" ] || for name in "${!SLURM_@}"; do [ "$name" = SLURM_CONF ] || unset "$name"; done
)sh";

// A run folder is named after its job number, which a requeued job keeps.
constexpr const char* kRun = "run=${1:-runs/$SLURM_JOB_NAME-$SLURM_JOB_ID}  # the folder of the run\n";

std::string numbers(std::int64_t count, std::int64_t at_once) {
  const std::string all = fmt::format("0-{}", count - 1);
  return at_once > 0 ? fmt::format("{}%{}", all, at_once) : all;
}

// Returns "0-3,8" for ascending numbers.
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

// Returns the job that was added last, for which the next job waits.
std::vector<std::string> last_of(const JobSet& jobs) {
  if (jobs.submissions.empty()) return {};
  return {jobs.submissions.back().variable};
}

// Returns the layout of a job on one node, for the results of other jobs.
Layout small(const Layout& layout) {
  Layout one = layout;
  one.nodes = 1;
  return one;
}

// A job that starts one process.
constexpr Layout kOneCore{.nodes = 1, .ranks_per_node = 1, .cpus_per_rank = 1};

// Adds the script NAME.sh, and its submission after the job before. `submission`: what it has besides.
void add_job(JobSet& jobs, const JobOptions& options, const std::string& name, const std::string& what,
             const Layout& layout, const JobCommand& command, Submission submission = {},
             const std::string& array = {}) {
  jobs.scripts.push_back(make_script(options, name + ".sh", what, layout, command, array));
  submission.variable = name;
  submission.script = name + ".sh";
  submission.after = last_of(jobs);
  jobs.submissions.push_back(std::move(submission));
}

// Returns the line of submit.sh that sets $run to the folder of a job's run.
std::string run_of(const JobOptions& options, std::string_view job) {
  return fmt::format("run=runs/{}-${{{}%%;*}}\n", shell_word(options.name), job);
}

}  // namespace

void add_prepare(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& source,
                 const std::string& dataset, const std::string& more) {
  std::string arguments = fmt::format("prepare {} --output {}", shell_word(source), shell_word(dataset));
  if (!more.empty()) arguments += " " + more;
  add_job(jobs, options, "prepare", "all ranks make its dataset", layout, {.arguments = arguments});
  jobs.result = shell_word(dataset);
}

void add_train(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& recipe) {
  add_job(
      jobs, options, "train", "all ranks train one model", layout,
      {.run = kRun, .arguments = fmt::format("train {} --output \"$run\" --resume", recipe), .resumes = true},
      {.then = run_of(options, "train")});
  jobs.result = "\"$run\"";
}

void add_ensemble(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& recipe,
                  std::int64_t members, std::int64_t at_once) {
  add_job(jobs, options, "member", "each job of the array trains one member", layout,
          {.run = "run=${1:-runs/$SLURM_JOB_NAME-$SLURM_ARRAY_JOB_ID}/member-$SLURM_ARRAY_TASK_ID\n",
           .arguments = fmt::format(
               "train {} --member \"$SLURM_ARRAY_TASK_ID\" \\\n  --output \"$run\" --resume", recipe),
           .resumes = true},
          {.then = run_of(options, "member")}, numbers(members, at_once));
  add_job(jobs, options, "gather", "combines its members into an ensemble that votes", small(layout),
          {.run = "run=${1:?the folder above those of the members}\n",
           .arguments = "gather \"$run\"/member-* --output \"$run/ensemble\""},
          {.arguments = "\"$run\"", .then = "run=$run/ensemble\n"});
  jobs.result = "\"$run\"";
}

void add_sweep(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& recipe,
               const std::vector<Changes>& variants, std::int64_t at_once) {
  std::string setup = "changes=(  # indexed by the number of the job in the array\n";
  for (const Changes& variant : variants) {
    setup += fmt::format("  \"--set {}\"\n", fmt::join(variant, " --set "));
  }
  setup += ")\n";
  const auto count = static_cast<std::int64_t>(variants.size());
  add_job(jobs, options, "sweep", "each job of the array trains one variant", layout,
          {.run = "run=${1:-runs/$SLURM_JOB_NAME-$SLURM_ARRAY_JOB_ID}/$SLURM_ARRAY_TASK_ID\n",
           .setup = setup,
           .arguments =
               fmt::format("train {} ${{changes[$SLURM_ARRAY_TASK_ID]}} --output \"$run\" --resume", recipe),
           .resumes = true},
          {.then = run_of(options, "sweep")}, numbers(count, at_once));
  std::string runs;
  for (std::int64_t i = 0; i < count; ++i) runs += fmt::format("{}\"$run/{}\"", i == 0 ? "" : " ", i);
  add_job(jobs, options, "compare", "compares its runs; arguments: their folders", kOneCore,
          {.arguments = "compare \"$@\""}, {.arguments = runs});
  jobs.result = "\"$run\"";
}

void add_study(JobSet& jobs, const JobOptions& job, const std::vector<StudyJobs>& sizes,
               const StudyJobOptions& how) {
  Layout largest = sizes.front().layout;
  for (const StudyJobs& size : sizes) {
    largest.nodes = std::max(largest.nodes, size.layout.nodes);
    largest.memory_mib = std::max(largest.memory_mib, size.layout.memory_mib);
  }
  const std::string study = "study \"$study/study.toml\" --output \"$study\"";
  const auto with = [](const std::string& options) { return options.empty() ? "" : " " + options; };
  const std::string run = "study=${1:?the folder of the study}\n";
  jobs.scripts.push_back(
      make_script(job, "study.sh", "each job of the array is one run of the study", largest,
                  {.run = run,
                   .arguments = study + " --task \"$((SLURM_ARRAY_TASK_ID + ${2:-0}))\"" + with(how.options),
                   .alone = true},
                  numbers(1, 0)));
  jobs.scripts.push_back(make_script(
      job, "collect.sh", "collects the measurements of its runs, and submits further runs", kOneCore,
      {.run = run + "here=${2:?the folder of these scripts}\n",
       .arguments = study + " --collect --more \"$here\"" + with(how.more_options),
       .alone = true}));
  jobs.before =
      fmt::format("study=${{1:-{}}}\n{} study \"$here/study.toml\" --output \"$study\"{} --begin\n",
                  how.folder.empty() ? fmt::format("studies/{}-$(date +%Y%m%d-%H%M%S)", shell_word(job.name))
                                     : shell_word(how.folder),
                  job.program, how.resumes ? " --resume" : "");
  add_study_runs(jobs, sizes, how.at_once, how.resumes);
}

void add_study_runs(JobSet& jobs, const std::vector<StudyJobs>& sizes, std::int64_t at_once, bool kept) {
  // Sizes that all jobs share are in the script, where users can change them for the first submission.
  const auto differ = [&](int Layout::*member) {
    return std::any_of(sizes.begin(), sizes.end(), [&](const StudyJobs& size) {
      return size.layout.*member != sizes.front().layout.*member;
    });
  };
  const bool ranks_differ = kept || differ(&Layout::ranks_per_node),
             cpus_differ = kept || differ(&Layout::cpus_per_rank);
  const std::vector<std::string> before = last_of(jobs);
  const auto record = [](const std::string& job) {  // for `convoke study --resume`
    return fmt::format("echo \"${{{}%%;*}}\" >> \"$study/jobs.txt\"\n", job);
  };
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
      if (kept && layout.memory_mib > 0) call += fmt::format(" --mem={}M", layout.memory_mib);
      call += " --array=" + list_of(in_array);
      if (at_once > 0) call += fmt::format("%{}", at_once);
      jobs.submissions.push_back({.variable = all.back(),
                                  .script = "study.sh",
                                  .after = before,
                                  .options = call,
                                  .arguments = "\"$study\"" + (base == 0 ? "" : fmt::format(" {}", base)),
                                  .then = record(all.back())});
    }
  }
  jobs.submissions.push_back({.variable = "collect",
                              .script = "collect.sh",
                              .after = all,
                              .whatever = true,  // a failed run is a row of the table too
                              .arguments = "\"$study\" \"$here\"",
                              .then = record("collect")});
  jobs.result = "\"$study\"";
}

void add_evaluate(JobSet& jobs, const JobOptions& options, const Layout& layout) {
  add_job(jobs, options, "report", "evaluates the run on the test split of its recipe", small(layout),
          {.run = "run=${1:?the folder of a run}\n", .arguments = "evaluate \"$run\""},
          {.arguments = "\"$run\""});
}

void start_after(JobSet& jobs, const std::string& job) {
  for (Submission& submission : jobs.submissions) {
    if (submission.after.empty()) submission.after.push_back(job);
  }
}

std::string submit_script(const JobSet& jobs, const JobOptions& options) {
  std::string text = fmt::format(
      "#!/bin/bash\n# {}: submits its jobs in their order. Start it in the folder from which the recipe "
      "is found.\n# Written by: {}\nset -euo pipefail\nhere=$(dirname \"$0\")\n",
      options.name, options.written_by);
  text += kWithoutVariables;
  text += jobs.before;
  for (const Submission& job : jobs.submissions) {
    std::string call = "sbatch --parsable";
    if (!job.options.empty()) call += " " + job.options;
    if (!job.after.empty()) {
      std::vector<std::string> ids;
      for (const std::string& id : job.after) {
        const bool number = id.find_first_not_of("0123456789_:") == std::string::npos;
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
  return text + fmt::format("\necho result: {}\n", jobs.result);
}

}  // namespace convoke::slurm
