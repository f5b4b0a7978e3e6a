#pragma once
#include <string>

namespace convoke::doctor {

/// What a variable of Open MPI ("btl_tcp_if_include") is set to, or `otherwise`. The environment, where
/// mpirun puts its options too, is looked at first. Only the library knows what its files say: `ask` for that
/// takes a quarter of a second, the first time.
std::string mpi_setting(const std::string& name, const std::string& otherwise, bool ask);

}  // namespace convoke::doctor
