#pragma once
#include <optional>
#include <string>

namespace convoke::mpi {

/// Returns the value of a control variable of the MPI library ("btl_tcp_if_exclude"), set by a file, the
/// environment or mpirun. Uses MPI's tools interface (MPI 3.1, chapter 14). Numbers are text, booleans "1"
/// and "0"; "" means an empty value. None if the library has no such variable. Needs a Session.
std::optional<std::string> control_variable(const std::string& name);

}  // namespace convoke::mpi
