#include "support/replaced_calls.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

// Each function of MPI passes the call on to the PMPI function that every MPI has for this.

using replaced::counts;

extern "C" {

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++counts.allreduce;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}
int MPI_Barrier(MPI_Comm comm) {
  ++counts.barrier;
  return PMPI_Barrier(comm);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  ++counts.ibcast;
  return PMPI_Ibcast(data, count, type, root, comm, request);
}
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  ++counts.reduce;
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}
int MPI_Iallgather(const void* out, int sent, MPI_Datatype type, void* in, int received, MPI_Datatype in_type,
                   MPI_Comm comm, MPI_Request* request) {
  ++counts.iallgather;
  return PMPI_Iallgather(out, sent, type, in, received, in_type, comm, request);
}
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++counts.iallreduce;
  return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}
int MPI_Ialltoall(const void* out, int sent, MPI_Datatype type, void* in, int received, MPI_Datatype in_type,
                  MPI_Comm comm, MPI_Request* request) {
  ++counts.ialltoall;
  return replaced::ialltoall(out, sent, type, in, received, in_type, comm, request);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++counts.ibarrier;
  return PMPI_Ibarrier(comm, request);
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  return replaced::test(request, done, status);
}
int MPI_Comm_split(MPI_Comm all, int color, int key, MPI_Comm* made) {
  ++counts.comm_split;
  return PMPI_Comm_split(all, color, key, made);
}
int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm* made) {
  ++counts.comm_split;
  return PMPI_Comm_split_type(all, type, key, info, made);
}
int MPI_Comm_free(MPI_Comm* communicator) {
  ++counts.comm_free;
  return PMPI_Comm_free(communicator);
}

std::int64_t H5Fopen(const char* name, unsigned flags, std::int64_t access) {
  ++counts.h5fopen;
  using Open = decltype(&H5Fopen);
  static const auto real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "H5Fopen"));
  return real(name, flags, access);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (replaced::slow_clock) usleep(50'000);
  return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}
}
