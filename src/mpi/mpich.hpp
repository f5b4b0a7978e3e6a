#pragma once

// What is particular to MPICH and the libraries that share its ABI, such as Intel MPI.

namespace convoke::mpi::mpich {

/// Returns the rank that MPICH's mpirun gave this process; -1 if another program started it, or MPI is not
/// MPICH.
int rank_by_launcher();

}  // namespace convoke::mpi::mpich
