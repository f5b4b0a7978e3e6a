#pragma once
#include <optional>
#include <string>

namespace convoke::mpi {

/// What a control variable of the MPI library ("btl_tcp_if_exclude") is set to, be it by a file, the
/// environment or mpirun, through MPI's tools interface (MPI 3.1, chapter 14); numbers as text, truth as
/// "1" and "0", "" is set to nothing. None if the library has no such variable. While a Session lives.
std::optional<std::string> control_variable(const std::string& name);

}  // namespace convoke::mpi
