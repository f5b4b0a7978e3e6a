#include "mpi/mpich.hpp"

#include <mpi.h>

#include "convoke/os/environment.hpp"

namespace convoke::mpi::mpich {

int rank_by_launcher() {
#if defined(MPICH_VERSION)
  if (const auto rank = os::number_in("PMI_RANK")) return static_cast<int>(*rank);
#endif
  return -1;
}

}  // namespace convoke::mpi::mpich
