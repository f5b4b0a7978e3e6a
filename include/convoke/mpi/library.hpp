#pragma once
#include <optional>
#include <string>

namespace convoke::mpi {

/// The launcher of this program, from its environment.
struct Launcher {
  const char* name;
  const char* variable;  ///< holds the number of processes that it started
  int processes = 0;
};

/// Returns none for a program that was started without a launcher. Slurm counts as the launcher only if there
/// is no mpirun: under one, Slurm's number counts the daemons of that mpirun.
std::optional<Launcher> launcher();

/// Returns a warning if the launcher started several processes but this program is alone in its MPI world:
/// the mpirun belongs to another MPI, and every process would do the whole job. Empty if there is no problem.
std::string launcher_warning(int world_size);

/// Returns the value of a control variable of the MPI library ("btl_tcp_if_exclude"), set by a file, the
/// environment or mpirun. Uses MPI's tools interface (MPI 3.1, chapter 14). Numbers are text, booleans "1"
/// and "0"; "" means an empty value. None if the library has no such variable. Needs a Session.
std::optional<std::string> control_variable(const std::string& name);

}  // namespace convoke::mpi
