#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "convoke/slurm/job_script.hpp"

namespace convoke::slurm {

/// One call of sbatch.
struct Submission {
  std::string variable;                 ///< of submit.sh, that takes the job's number
  std::string script;                   ///< file
  std::vector<std::string> after = {};  ///< variables or numbers of the jobs that must have succeeded before
  bool whatever = false;                ///< they need only have ended
  std::string options = {};             ///< of sbatch, beyond those in the script
  std::string arguments = {};           ///< of the script, as shell words
  std::string then = {};                ///< lines of submit.sh behind it; may be empty
};

using File = std::pair<std::string, std::string>;  ///< name, text

/// Jobs that belong together: their scripts, and how they are submitted.
struct Plan {
  std::vector<JobScript> scripts;
  std::vector<Submission> submissions;
  std::string result;            ///< what there will be at the end, as submit.sh prints it
  std::string before;            ///< lines of submit.sh before the first submission; may be empty
  std::vector<File> files = {};  ///< that belong beside the scripts
};

/// Each adds its jobs behind those of `plan`. `recipe`: the recipe and its --set, as shell words.
void add_prepare(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& source,
                 const std::string& dataset, const std::string& more);
void add_train(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& recipe);
/// `members` jobs as an array, at most `at_once` at a time (0: any number), and one that gathers them.
void add_ensemble(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& recipe,
                  std::int64_t members, std::int64_t at_once);
/// The recipe's keys that a variant changes: "train.batch=64". Without spaces and quotes.
using Changes = std::vector<std::string>;

/// A job for each of `variants`, as an array, and a comparison.
void add_sweep(Plan& plan, const JobOptions& options, const Layout& layout, const std::string& recipe,
               const std::vector<Changes>& variants, std::int64_t at_once);
/// Runs of a study that need the same nodes.
struct StudyJobs {
  Layout layout;
  std::vector<std::int64_t> tasks;  ///< their numbers in the study, rising; may be empty
};
/// How the jobs of a study are made.
struct StudyPlan {
  std::int64_t at_once = 0;  ///< jobs of an array at a time; 0: any number
  std::string folder = {};   ///< of the study; empty: a new one each time
  bool resumes = false;  ///< the folder may be there; else it is refused, so that nothing is measured twice
  std::string options = {};       ///< further ones of `convoke study` for a run, as shell words
  std::string more_options = {};  ///< and for the job that may submit more of them
};
/// An array for each of `sizes`, which are all of the study, with a job for each run, and one job that
/// collects what they have measured, and submits more. Beside the plan's scripts belongs a file study.toml.
void add_study(Plan& plan, const JobOptions& job, const std::vector<StudyJobs>& sizes, const StudyPlan& how);
/// The same jobs by scripts that are there; submit.sh must know the study's folder, as $study.
void add_study_runs(Plan& plan, const std::vector<StudyJobs>& sizes, std::int64_t at_once);
/// `convoke evaluate` of the run before, on the split that its recipe tests on.
void add_evaluate(Plan& plan, const JobOptions& options, const Layout& layout);

/// Lets the first job wait for one that is in the queue already.
void start_after(Plan& plan, const std::string& job);

/// A script that submits all of it and prints the jobs' numbers.
std::string submit_script(const Plan& plan, const JobOptions& options);

}  // namespace convoke::slurm
