#pragma once
#include <string>
#include <vector>

namespace convoke::os {

/// Hides the variables that tell OpenMP where threads run (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY,
/// KMP_AFFINITY) in `environment`, which a null pointer ends: their first letter becomes a lower-case one.
/// OpenMP reads them when its library is loaded. It would bind the main thread to one core before main(), and
/// every other thread to the same core at its first parallel region, because each of Convoke's workers is the
/// first thread of a team of its own. Call it from .preinit_array, which runs before any library.
void hide_openmp_binding(char** environment) noexcept;

/// Returns the hidden variables of this process, e.g. "OMP_PROC_BIND=true".
std::vector<std::string> hidden_openmp_binding();

}  // namespace convoke::os
