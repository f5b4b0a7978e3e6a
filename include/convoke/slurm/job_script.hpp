#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/slurm/layout.hpp"

namespace convoke::slurm {

enum class Launcher { kMpirun, kSrun };

/// What all scripts of a plan have in common.
struct JobOptions {
  std::string name;                    ///< of the jobs and their run folders
  std::string program = "convoke";     ///< how a job calls Convoke, as shell words
  std::string written_by;              ///< the command that writes the scripts, for their first lines
  std::int64_t time_seconds = 3600;    ///< limit of each job
  std::int64_t warning_seconds = 120;  ///< before its end; Slurm may be up to a minute early
  std::string partition, account, constraint, mail;  ///< empty: none
  int restarts = 3;                                  ///< after a node was lost, at most
  Launcher launcher = Launcher::kMpirun;
  bool bind = true;  ///< ranks to cores of their own; false: wherever the system puts them
};

/// A job's script: what `sbatch` takes.
struct JobScript {
  struct Directive {
    std::string option;   ///< "--nodes=2"
    std::string comment;  ///< for what is not obvious; may be empty
  };

  std::string file;                ///< "train.sh"
  std::vector<std::string> about;  ///< the first lines
  std::vector<Directive> directives;
  std::string body;  ///< bash
};

std::string to_text(const JobScript& script);

/// What a script runs.
struct Command {
  std::string run;        ///< the line that sets $run, the folder of the run; empty: it has none
  std::string setup;      ///< further lines before the launch; may be empty
  std::string arguments;  ///< of convoke, as shell words
  bool alone = false;     ///< not started on every rank: it starts ranks itself
  bool resumes = false;   ///< it goes on from checkpoints: warn it, and put it back into the queue
};

/// A script of `options` that runs `command` on `layout`. `array`: "0-3%2", or empty.
JobScript make_script(const JobOptions& options, const std::string& file, const std::string& what,
                      const Layout& layout, const Command& command, const std::string& array = {});

}  // namespace convoke::slurm
