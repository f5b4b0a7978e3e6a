#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "convoke/slurm/layout.hpp"

namespace convoke::slurm {

enum class Launcher { kMpirun, kSrun };

/// Options that all scripts of a job set share.
struct JobOptions {
  std::string name;                 ///< name of the jobs and their run folders
  std::string program = "convoke";  ///< the call of Convoke in a job, as shell words
  std::string written_by;           ///< the command that wrote the scripts, for their first lines
  std::string work = {};  ///< how many cores training keeps busy, for the first lines; empty: unknown
  std::int64_t time_seconds = 3600;  ///< time limit of each job
  std::int64_t warning_seconds =
      120;  ///< time of the warning before the limit; Slurm may warn up to a minute early
  std::string partition, account, constraint, mail;  ///< empty: none
  int restarts = 3;                                  ///< largest number of restarts after a node was lost
  Launcher launcher = Launcher::kMpirun;
  bool bind = true;  ///< each rank to its own cores; false: the system chooses
};

using File = std::pair<std::string, std::string>;  ///< name, text

/// The command that a script runs.
struct JobCommand {
  std::string run = {};        ///< the line that sets $run, the run folder; empty: none
  std::string setup = {};      ///< further lines before the launch; may be empty
  std::string arguments = {};  ///< arguments of convoke, as shell words
  bool alone = false;          ///< start one process, which starts the ranks
  bool resumes = false;        ///< the command continues from checkpoints, so the job is warned and requeued
};

/// Returns a script for `sbatch` that runs `command` on `layout`. `array`: "0-3%2", or empty.
File make_script(const JobOptions& options, const std::string& file, const std::string& what,
                 const Layout& layout, const JobCommand& command, const std::string& array = {});

/// One call of sbatch.
struct Submission {
  std::string variable = {};            ///< variable of submit.sh for the job's number
  std::string script = {};              ///< file name
  std::vector<std::string> after = {};  ///< variables or numbers of the jobs that must succeed first
  bool whatever = false;                ///< these jobs need only end
  std::string options = {};             ///< options of sbatch in addition to those in the script
  std::string arguments = {};           ///< arguments of the script, as shell words
  std::string then = {};                ///< lines of submit.sh after this call; may be empty
};

/// Jobs that belong together: their scripts, and their submissions.
struct JobSet {
  std::vector<File> scripts;
  std::vector<Submission> submissions;
  std::string result;            ///< the result of all jobs, which submit.sh prints, as a shell word
  std::string before;            ///< lines of submit.sh before the first submission; may be empty
  std::vector<File> files = {};  ///< further files next to the scripts
};

// Each function adds its jobs after those of `jobs`. `recipe`: the recipe and its --set, as shell words.

void add_prepare(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& source,
                 const std::string& dataset, const std::string& more);
void add_train(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& recipe);
/// Adds an array of `members` jobs, at most `at_once` at a time (0: any number), and a job that gathers them.
void add_ensemble(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& recipe,
                  std::int64_t members, std::int64_t at_once);
/// The changes of a variant: "train.batch=64". Without spaces and quotes.
using Changes = std::vector<std::string>;

/// Adds an array with one job per variant, and a comparison.
void add_sweep(JobSet& jobs, const JobOptions& options, const Layout& layout, const std::string& recipe,
               const std::vector<Changes>& variants, std::int64_t at_once);
/// Runs of a study that need the same nodes.
struct StudyJobs {
  Layout layout;
  std::vector<std::int64_t> tasks;  ///< their numbers in the study, ascending; may be empty
};
/// Options of the jobs of a study.
struct StudyJobOptions {
  std::int64_t at_once = 0;  ///< jobs of an array that run at the same time; 0: any number
  std::string folder = {};   ///< study folder; empty: a new one each time
  bool resumes = false;      ///< the folder may exist; otherwise it is refused, so that no run is made twice
  std::string options = {};  ///< further options of `convoke study` for a run, as shell words
  std::string more_options = {};  ///< options for the job that may submit further runs
};
/// Adds an array with one job per run for each of `sizes` (all sizes of the study), and one job that collects
/// the measurements and submits further runs. The scripts need a file study.toml next to them.
void add_study(JobSet& jobs, const JobOptions& job, const std::vector<StudyJobs>& sizes,
               const StudyJobOptions& how);
/// Adds the same jobs with existing scripts. submit.sh must set $study, the study folder, and writes the
/// numbers of the jobs to $study/jobs.txt. `kept`: study.sh may be of an earlier study file or version, so
/// each call of sbatch names the whole size of its jobs.
void add_study_runs(JobSet& jobs, const std::vector<StudyJobs>& sizes, std::int64_t at_once, bool kept);
/// Adds a job that evaluates the run of the job before it on the test split of its recipe.
void add_evaluate(JobSet& jobs, const JobOptions& options, const Layout& layout);

/// Makes the first job wait for a job that is already in the queue: "87", "87_3" in an array, or all of
/// "87:88".
void start_after(JobSet& jobs, const std::string& job);

/// Returns a script that submits all jobs and prints their numbers.
std::string submit_script(const JobSet& jobs, const JobOptions& options);

}  // namespace convoke::slurm
