// Preloaded into a program: its MPI library says that only the thread that initialized it may call it.
#include <mpi.h>

extern "C" int MPI_Query_thread(int* provided) {
  *provided = MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}
