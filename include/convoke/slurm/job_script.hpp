#pragma once
#include <cstdint>
#include <string>
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

/// The script of a job, for `sbatch`.
struct JobScript {
  struct Directive {
    std::string option;   ///< "--nodes=2"
    std::string comment;  ///< may be empty
  };

  std::string file;                ///< "train.sh"
  std::vector<std::string> about;  ///< the first lines
  std::vector<Directive> directives;
  std::string body;  ///< bash
};

std::string to_text(const JobScript& script);

/// The command that a script runs.
struct JobCommand {
  std::string run = {};        ///< the line that sets $run, the run folder; empty: none
  std::string setup = {};      ///< further lines before the launch; may be empty
  std::string arguments = {};  ///< arguments of convoke, as shell words
  bool alone = false;          ///< start one process, which starts the ranks
  bool resumes = false;        ///< the command continues from checkpoints, so the job is warned and requeued
};

/// Returns a script that runs `command` on `layout`. `array`: "0-3%2", or empty.
JobScript make_script(const JobOptions& options, const std::string& file, const std::string& what,
                      const Layout& layout, const JobCommand& command, const std::string& array = {});

}  // namespace convoke::slurm
