#include "convoke/mpi/library.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::mpi {
namespace {

constexpr std::array kLaunchers{
    Launcher{"the mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE"},
    Launcher{"the mpirun of MPICH or Intel MPI", "PMI_SIZE"},
    Launcher{"the mpirun of MVAPICH2", "MV2_COMM_WORLD_SIZE"},
    Launcher{"srun", "SLURM_STEP_NUM_TASKS"},
};

}  // namespace

std::optional<Launcher> launcher() {
  for (Launcher candidate : kLaunchers) {
    const std::optional<std::int64_t> processes = os::number_in(candidate.variable);
    if (!processes) continue;
    candidate.processes = static_cast<int>(*processes);
    return candidate;
  }
  return {};
}

std::string launcher_warning(int world_size) {
  const std::optional<Launcher> by = launcher();
  if (world_size != 1 || !by || by->processes <= 1) return {};
  return fmt::format(
      "{} has started {} processes ({}={}), but each of them is alone in its MPI world and would do the "
      "whole job: the launcher does not belong to {}, which this program was built with. Start it with that "
      "MPI's mpirun, or under Slurm with srun --mpi=pmix.",
      by->name, by->processes, by->variable, by->processes, Session::library_version());
}

namespace {

template <class T>
std::string number(const std::vector<char>& bytes) {
  return std::to_string(*reinterpret_cast<const T*>(bytes.data()));
}

std::optional<std::string> read(int index) {
  int verbosity = 0, bind = 0, scope = 0, count = 0, name_length = 0, text_length = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &values, nullptr, &text_length,
                          &bind, &scope) != MPI_SUCCESS ||
      bind != MPI_T_BIND_NO_OBJECT ||
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) {
    return std::nullopt;
  }
  std::vector<char> bytes((static_cast<std::size_t>(count) + 1) * sizeof(double));
  const bool known = MPI_T_cvar_read(handle, bytes.data()) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  if (!known) return std::nullopt;
  if (type == MPI_CHAR) return std::string(bytes.data());
  if (type == MPI_C_BOOL) return std::to_string(static_cast<int>(bytes[0] != 0));
  if (type == MPI_INT) return number<int>(bytes);
  if (type == MPI_UNSIGNED) return number<unsigned>(bytes);
  if (type == MPI_UNSIGNED_LONG) return number<unsigned long>(bytes);
  if (type == MPI_UNSIGNED_LONG_LONG) return number<unsigned long long>(bytes);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> control_variable(const std::string& name) {
  // Only once: the first call searches all components of the library, which takes a quarter of a second.
  static const bool started = [] {
    // Open MPI lowers the level of the whole program to that of this call: it must ask for the highest.
    int provided = 0;
    return MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS;
  }();
  int index = 0;
  if (!started || MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
  return read(index);
}

}  // namespace convoke::mpi
