// What happens to one rank of a job that preloads this. The environment: CONVOKE_MISFORTUNE, and the rank,
// CONVOKE_MISFORTUNE_RANK; "all" for all ranks.
//   stop N PATH    it is stopped (SIGSTOP) when it opens a file for the N-th time whose path contains PATH
//   kill N PATH    it is killed then
//   exit N PATH    it ends with exit code 0 then
//   refuse N CALL  from its N-th call of memfd_create or process_vm_readv on, the system refuses it
//   clock N SECONDS  after it has looked at the system's clock N times, that clock is wrong by so much
//   wait N         in its N-th collective call, it waits for a message that rank 0 never sends
//   flip N         from its N-th computation of oneDNN on, a bit of each result is wrong
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <string_view>

namespace {

struct Misfortune {
  std::string what, path;
  int after = 0;
};

const Misfortune& misfortune() {
  static const Misfortune here = [] {
    Misfortune read;
    const char* const text = std::getenv("CONVOKE_MISFORTUNE");
    const char* const wanted = std::getenv("CONVOKE_MISFORTUNE_RANK");
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    if (text == nullptr || wanted == nullptr) return read;
    const std::string ranks(wanted);
    if (ranks != "all" && (rank == nullptr || ranks != rank)) return read;
    std::istringstream(text) >> read.what >> read.after >> read.path;
    return read;
  }();
  return here;
}

bool happens(std::atomic<int>& count) { return ++count == misfortune().after; }

void at_open(const char* path) {
  static std::atomic<int> count{0};
  const Misfortune& what = misfortune();
  if (what.path.empty() || std::string(path).find(what.path) == std::string::npos || !happens(count)) return;
  if (what.what == "exit") ::_exit(0);
  std::raise(what.what == "kill" ? SIGKILL : SIGSTOP);
}

void at_collective() {
  static std::atomic<int> count{0};
  if (misfortune().what != "wait" || !happens(count)) return;
  constexpr int kNeverSent = 32000;
  PMPI_Recv(nullptr, 0, MPI_BYTE, 0, kNeverSent, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

bool is_refused(const char* call) {
  static std::atomic<int> count{0};
  return misfortune().what == "refuse" && misfortune().path == call && ++count >= misfortune().after;
}

/// Seconds by which the system's clock is wrong now.
std::time_t clock_error() {
  static std::atomic<int> count{0};
  static const std::time_t seconds = misfortune().what == "clock" ? std::stol(misfortune().path) : 0;
  if (seconds == 0 || ++count <= misfortune().after) return 0;
  if (count == misfortune().after + 1) {
    constexpr std::string_view kText = "the clock jumps\n";
    static_cast<void>(!::write(STDERR_FILENO, kText.data(), kText.size()));
  }
  return seconds;
}

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_in(int flags, va_list& arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  at_open(path);
  return original<int(const char*, int, ...)>("open")(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  at_open(path);
  return original<int(const char*, int, ...)>("open64")(path, flags, mode);
}

int memfd_create(const char* name, unsigned flags) {
  if (!is_refused("memfd_create")) return original<int(const char*, unsigned)>("memfd_create")(name, flags);
  errno = ENOSYS;
  return -1;
}

ssize_t process_vm_readv(pid_t process, const iovec* mine, unsigned long count, const iovec* theirs,
                         unsigned long their_count, unsigned long flags) {
  if (!is_refused("process_vm_readv"))
    return original<decltype(process_vm_readv)>("process_vm_readv")(process, mine, count, theirs, their_count,
                                                                    flags);
  errno = EPERM;
  return -1;
}

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto get = original<int(clockid_t, timespec*)>("clock_gettime");
  const int result = get(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += clock_error();
  return result;
}

int gettimeofday(timeval* time, void* zone) {
  static const auto get = original<int(timeval*, void*)>("gettimeofday");
  const int result = get(time, zone);
  time->tv_sec += clock_error();
  return result;
}

std::time_t time(std::time_t* out) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  at_collective();
  return PMPI_Ibarrier(comm, request);
}

int MPI_Ibcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  at_collective();
  return PMPI_Ibcast(values, count, type, root, comm, request);
}

dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count,
                                     const dnnl_exec_arg_t* arguments) {
  static std::atomic<int> calls{0};
  static const auto execute = original<decltype(dnnl_primitive_execute)>("dnnl_primitive_execute");
  const dnnl_status_t status = execute(primitive, stream, count, arguments);
  if (misfortune().what != "flip" || ++calls < misfortune().after) return status;
  for (int i = 0; i < count; ++i) {
    void* values = nullptr;
    if (arguments[i].arg != DNNL_ARG_DST && arguments[i].arg != DNNL_ARG_DIFF_WEIGHTS) continue;
    dnnl_memory_get_data_handle(arguments[i].memory, &values);
    if (values != nullptr) static_cast<unsigned char*>(values)[2] ^= 1U;  // a bit of the first mantissa
  }
  return status;
}

}  // extern "C"
