#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convoke::os {

/// Returns the name of this host: "n1"; "unknown" if it has none.
std::string host_name();

/// Returns an environment variable; none if it is not set or is empty.
std::optional<std::string> variable(const std::string& name);

/// Returns the whole number at the start of an environment variable; none if it is not set or does not start
/// with one.
std::optional<std::int64_t> number_in(const std::string& name);

/// Returns the numbers of an environment variable in Slurm's notation: 4, 4 and 3 for "4(x2),3". Empty if it
/// is not set.
std::vector<std::int64_t> repeated_numbers_in(const std::string& name);

/// Sets an environment variable of this process if it is not set, so that the user's choice has priority.
/// Call it before other threads are started.
void set_default(const std::string& name, const std::string& value);

/// Hides the variables that tell OpenMP where threads run (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY,
/// KMP_AFFINITY) in `environment`, which a null pointer ends: their first letter becomes a lower-case one.
/// OpenMP reads them when its library is loaded. It would bind the main thread to one core before main(), and
/// every other thread to the same core at its first parallel region, because each of Convoke's workers is the
/// first thread of a team of its own. Call it from .preinit_array, which runs before any library.
void hide_openmp_binding(char** environment) noexcept;

/// Returns the hidden variables of this process, e.g. "OMP_PROC_BIND=true".
std::vector<std::string> hidden_openmp_binding();

}  // namespace convoke::os
