#include "convoke/mpi/control_variable.hpp"

#include <mpi.h>

#include <vector>

namespace convoke::mpi {
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
