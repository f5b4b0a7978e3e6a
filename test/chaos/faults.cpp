// A library to preload (LD_PRELOAD): makes the n-th call of one kind fail. The environment:
//   CONVOKE_FAULT_CALL   the kind: open, read, write, fsync, rename, link, mmap, thread, memory, hdf5, onednn
//   or mpi CONVOKE_FAULT_AT     the number of the call that fails, from 1 CONVOKE_FAULT_STAYS  1: so do all
//   later ones CONVOKE_FAULT_RANK   only in this rank CONVOKE_FAULT_COUNT  a file that gets the number of
//   calls of each kind when the process ends CONVOKE_FAULT_TRACE  1: prints where the call failed
// Only calls out of the program itself, libhdf5, libdnnl, libstdc++ and libfmt count: MPI and the system
// would end the process in ways of their own. Of memory, the first call of each place counts, because there
// are too many calls. Writes to standard output and error do not count, because they report the fault.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace {

enum Kind {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kRename,
  kLink,
  kMap,
  kThread,
  kMemory,
  kHdf5,
  kOneDnn,
  kMpi,
  kKinds
};
constexpr std::array<const char*, kKinds> kNames{"open", "read",   "write",  "fsync", "rename", "link",
                                                 "mmap", "thread", "memory", "hdf5",  "onednn", "mpi"};
constexpr std::array<int, kKinds> kErrors{EMFILE, EIO,    ENOSPC, EIO, EIO, EIO,
                                          ENOMEM, EAGAIN, ENOMEM, 0,   0,   0};

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool standard_library = false;
};
constexpr std::array<std::string_view, 3> kLibraries{"/libstdc++", "/libhdf5", "/libfmt"};
std::array<Range, 32> ranges;  // of the code that counts
std::size_t range_count = 0;

std::array<std::atomic<long>, kKinds> calls{};
int fault_kind = -1;
long fault_at = 0;
bool fault_stays = false, trace = false;
const char* count_file = nullptr;
std::atomic<bool> ready{false};

int add_range(dl_phdr_info* object, std::size_t, void*) {
  const std::string_view name = object->dlpi_name;
  bool counts = name.empty() && range_count == 0;  // the first object is the program
  for (const std::string_view library : kLibraries) counts = counts || name.find(library) != name.npos;
  if (!counts || range_count == ranges.size()) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || range_count == ranges.size()) continue;
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    ranges[range_count++] = {begin, begin + part.p_memsz, name.find(kLibraries[0]) != name.npos};
  }
  return 0;
}

const Range* range_of(std::uintptr_t address) {
  for (std::size_t i = 0; i < range_count; ++i)
    if (address >= ranges[i].begin && address < ranges[i].end) return &ranges[i];
  return nullptr;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

[[gnu::constructor]] void begin() {
  dl_iterate_phdr(add_range, nullptr);
  const std::string_view kind = variable("CONVOKE_FAULT_CALL");
  const std::string_view rank = variable("CONVOKE_FAULT_RANK");
  std::string_view own = variable("OMPI_COMM_WORLD_RANK");
  if (own.empty()) own = variable("PMI_RANK");
  if (own.empty()) own = "0";
  for (int i = 0; i < kKinds; ++i)
    if (kind == kNames[i] && (rank.empty() || rank == own)) fault_kind = i;
  fault_at = std::atol(std::string(variable("CONVOKE_FAULT_AT")).c_str());
  fault_stays = variable("CONVOKE_FAULT_STAYS") == "1";
  trace = variable("CONVOKE_FAULT_TRACE") == "1";
  if (rank.empty() || rank == own) count_file = std::getenv("CONVOKE_FAULT_COUNT");
  std::array<void*, 4> frames{};
  backtrace(frames.data(), frames.size());  // loads what it needs
  ready = true;
}

[[gnu::destructor]] void end() {
  ready = false;
  if (count_file == nullptr) return;
  std::FILE* const file = std::fopen(count_file, "w");
  if (file == nullptr) return;
  for (int i = 0; i < kKinds; ++i) std::fprintf(file, "%s %ld\n", kNames[i], calls[i].load());
  std::fclose(file);
}

void report(Kind kind, long call, const char* symbol) {
  std::array<char, 128> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "fault: %s: call %ld: %s\n", kNames[kind], call, symbol);
  syscall(SYS_write, 2, line.data(), static_cast<std::size_t>(length));
  if (!trace) return;
  std::array<void*, 48> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), 2);
}

/// Counts a call of this kind. Returns true if it must fail, with errno set.
bool count(Kind kind, const char* symbol) {
  const long call = ++calls[kind];
  if (kind != fault_kind || !(call == fault_at || (fault_stays && call > fault_at))) return false;
  ready = false;  // the report does not count
  if (call == fault_at) report(kind, call, symbol);
  ready = true;
  errno = kErrors[kind];
  return true;
}

bool fails(Kind kind, const char* symbol, void* caller) {
  return ready && range_of(reinterpret_cast<std::uintptr_t>(caller)) != nullptr && count(kind, symbol);
}

/// The next definition of a function, looked up at its first call.
class Next {
 public:
  explicit constexpr Next(const char* symbol) : symbol_(symbol) {}
  void* get() {
    void* found = address_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = dlsym(RTLD_NEXT, symbol_);
      address_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* symbol_;
  std::atomic<void*> address_{nullptr};
};

// All functions below take at most ten arguments, numbers and addresses, in the registers and places of ten
// longs.
using Ten = long (*)(long, long, long, long, long, long, long, long, long, long);

bool is_output(long number) { return number == 1 || number == 2; }
bool is_stdio(long file) {
  return file == 0 || file == reinterpret_cast<long>(stdout) || file == reinterpret_cast<long>(stderr);
}

}  // namespace

// Defines `symbol`, which returns `failure` if the condition holds.
#define FAULTY_IF(condition, symbol, failure)                                                              \
  extern "C" [[gnu::visibility("default")]] long faulty_##symbol(long, long, long, long, long, long, long, \
                                                                 long, long, long) __asm__(#symbol);       \
  long faulty_##symbol(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {   \
    static constinit Next next(#symbol);                                                                   \
    if (condition) return failure;                                                                         \
    return reinterpret_cast<Ten>(next.get())(a, b, c, d, e, f, g, h, i, j);                                \
  }
#define FAILS(symbol, kind) fails(kind, #symbol, __builtin_return_address(0))
#define FAULTY(symbol, kind, failure) FAULTY_IF(FAILS(symbol, kind), symbol, failure)

FAULTY(open, kOpen, -1)
FAULTY(open64, kOpen, -1)
FAULTY(openat, kOpen, -1)
FAULTY(openat64, kOpen, -1)
FAULTY(fopen, kOpen, 0)
FAULTY(fopen64, kOpen, 0)
FAULTY(mkostemp, kOpen, -1)
FAULTY(memfd_create, kOpen, -1)
FAULTY(opendir, kOpen, 0)
FAULTY(mkdir, kOpen, -1)
FAULTY(read, kRead, -1)
FAULTY(pread, kRead, -1)
FAULTY(pread64, kRead, -1)
FAULTY(readv, kRead, -1)
FAULTY(fread, kRead, 0)
FAULTY_IF(!is_output(a) && FAILS(write, kWrite), write, -1)
FAULTY_IF(!is_output(a) && FAILS(writev, kWrite), writev, -1)
FAULTY(pwrite, kWrite, -1)
FAULTY(pwrite64, kWrite, -1)
FAULTY(ftruncate, kWrite, -1)
FAULTY(ftruncate64, kWrite, -1)
FAULTY(posix_fallocate, kWrite, ENOSPC)
FAULTY(posix_fallocate64, kWrite, ENOSPC)
FAULTY_IF(!is_stdio(d) && FAILS(fwrite, kWrite), fwrite, 0)
FAULTY_IF(!is_stdio(a) && FAILS(fflush, kWrite), fflush, EOF)
FAULTY(fsync, kSync, -1)
FAULTY(fdatasync, kSync, -1)
FAULTY(rename, kRename, -1)
FAULTY(renameat, kRename, -1)
FAULTY(renameat2, kRename, -1)
FAULTY(link, kLink, -1)
FAULTY(linkat, kLink, -1)
FAULTY(symlink, kLink, -1)
FAULTY(mmap, kMap, -1)
FAULTY(mmap64, kMap, -1)
FAULTY(pthread_create, kThread, EAGAIN)

#define FAULTY_HDF5(symbol) FAULTY(symbol, kHdf5, -1)
FAULTY_HDF5(H5Fcreate)
FAULTY_HDF5(H5Fopen)
FAULTY_HDF5(H5Fflush)
FAULTY_HDF5(H5Fclose)
FAULTY_HDF5(H5Pcreate)
FAULTY_HDF5(H5Pset_fclose_degree)
FAULTY_HDF5(H5Pset_libver_bounds)
FAULTY_HDF5(H5Pset_fapl_stdio)
FAULTY_HDF5(H5Pset_fapl_core)
FAULTY_HDF5(H5Pset_file_image)
FAULTY_HDF5(H5Pset_obj_track_times)
FAULTY_HDF5(H5Pset_link_creation_order)
FAULTY_HDF5(H5Pget_link_creation_order)
FAULTY_HDF5(H5Pget_layout)
FAULTY_HDF5(H5Gcreate2)
FAULTY_HDF5(H5Gopen2)
FAULTY_HDF5(H5Gget_info)
FAULTY_HDF5(H5Gget_create_plist)
FAULTY_HDF5(H5Lexists)
FAULTY_HDF5(H5Lget_name_by_idx)
FAULTY_HDF5(H5Oopen)
FAULTY_HDF5(H5Oexists_by_name)
FAULTY_HDF5(H5Iget_type)
FAULTY_HDF5(H5Dcreate2)
FAULTY_HDF5(H5Dopen2)
FAULTY_HDF5(H5Dread)
FAULTY_HDF5(H5Dwrite)
FAULTY_HDF5(H5Dget_space)
FAULTY_HDF5(H5Dget_type)
FAULTY_HDF5(H5Dget_create_plist)
FAULTY_HDF5(H5Dget_offset)
FAULTY_HDF5(H5Screate)
FAULTY_HDF5(H5Screate_simple)
FAULTY_HDF5(H5Sselect_hyperslab)
FAULTY_HDF5(H5Sget_simple_extent_ndims)
FAULTY_HDF5(H5Sget_simple_extent_dims)
FAULTY_HDF5(H5Sget_simple_extent_npoints)
FAULTY_HDF5(H5Tcopy)
FAULTY_HDF5(H5Tset_size)
FAULTY_HDF5(H5Tset_cset)
FAULTY_HDF5(H5Tget_class)
FAULTY_HDF5(H5Tequal)
FAULTY_HDF5(H5Aexists)
FAULTY_HDF5(H5Adelete)
FAULTY_HDF5(H5Acreate2)
FAULTY_HDF5(H5Aopen)
FAULTY_HDF5(H5Aread)
FAULTY_HDF5(H5Awrite)
FAULTY_HDF5(H5Aget_type)
FAULTY_HDF5(H5Aget_space)
FAULTY_HDF5(H5Aiterate2)

#define FAULTY_ONEDNN(symbol, status) FAULTY(symbol, kOneDnn, status)
constexpr long kOutOfMemory = 1, kRuntimeError = 5;  // dnnl_status_t
FAULTY_ONEDNN(dnnl_engine_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_stream_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_stream_wait, kRuntimeError)
FAULTY_ONEDNN(dnnl_memory_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_memory_set_data_handle, kOutOfMemory)
FAULTY_ONEDNN(dnnl_memory_get_data_handle, kRuntimeError)
FAULTY_ONEDNN(dnnl_primitive_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_primitive_execute, kRuntimeError)
FAULTY_ONEDNN(dnnl_primitive_attr_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_primitive_desc_iterator_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_primitive_desc_query, kRuntimeError)
FAULTY_ONEDNN(dnnl_memory_desc_init_by_tag, kRuntimeError)
FAULTY_ONEDNN(dnnl_memory_set_data_handle_v2, kOutOfMemory)
FAULTY_ONEDNN(dnnl_post_ops_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_reorder_primitive_desc_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_convolution_forward_primitive_desc_create, kOutOfMemory)
FAULTY_ONEDNN(dnnl_matmul_primitive_desc_create, kOutOfMemory)

#define FAULTY_MPI(symbol) FAULTY(symbol, kMpi, MPI_ERR_OTHER)
FAULTY_MPI(MPI_Allreduce)
FAULTY_MPI(MPI_Iallreduce)
FAULTY_MPI(MPI_Ialltoall)
FAULTY_MPI(MPI_Iallgather)
FAULTY_MPI(MPI_Bcast)
FAULTY_MPI(MPI_Gather)
FAULTY_MPI(MPI_Send)
FAULTY_MPI(MPI_Isend)
FAULTY_MPI(MPI_Recv)
FAULTY_MPI(MPI_Iprobe)
FAULTY_MPI(MPI_Test)
FAULTY_MPI(MPI_Wait)
FAULTY_MPI(MPI_Barrier)
FAULTY_MPI(MPI_Ibarrier)
FAULTY_MPI(MPI_Comm_split)
FAULTY_MPI(MPI_Comm_split_type)
FAULTY_MPI(MPI_Comm_free)
FAULTY_MPI(MPI_Win_allocate_shared)
FAULTY_MPI(MPI_Win_shared_query)
FAULTY_MPI(MPI_Win_lock_all)
FAULTY_MPI(MPI_Win_sync)
FAULTY_MPI(MPI_Win_unlock_all)
FAULTY_MPI(MPI_Win_free)
FAULTY_MPI(MPI_Init_thread)

// Memory.

namespace {

thread_local bool inside = false;  // this thread walks a stack

/// The calls that led to an allocation.
struct Stack {
  static constexpr int kDepth = 6;
  std::uintptr_t caller;  // the innermost frame that is not of this library
  bool found = false;
  bool counts = false;
  int frames = 0;
  std::uint64_t hash = 0;
};

// The frames of libstdc++ are the same for all strings, so the ones above them tell the places apart.
_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* out) {
  auto& stack = *static_cast<Stack*>(out);
  const std::uintptr_t address = _Unwind_GetIP(context);
  stack.found = stack.found || address == stack.caller;
  if (!stack.found) return _URC_NO_REASON;
  const Range* const range = range_of(address);
  if (stack.frames == 0) {
    if (range == nullptr) return _URC_END_OF_STACK;
    if (range->standard_library) return _URC_NO_REASON;
    stack.counts = true;
  }
  stack.hash = (stack.hash ^ address) * 0x9E37'79B9'7F4A'7C15U;
  stack.hash ^= stack.hash >> 29;
  return ++stack.frames < Stack::kDepth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Returns true the first time.
bool is_new(std::uint64_t hash) {
  static std::array<std::atomic<std::uint64_t>, 1 << 16> seen{};
  hash |= 1;
  for (std::size_t i = 0; i < 64; ++i) {
    std::uint64_t found = 0;
    if (seen[(hash / 2 + i) % seen.size()].compare_exchange_strong(found, hash)) return true;
    if (found == hash) return false;
  }
  return false;
}

bool memory_fails(const char* symbol, void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (!ready || inside || (fault_kind != kMemory && count_file == nullptr) || range_of(address) == nullptr)
    return false;
  inside = true;
  Stack stack{.caller = address};
  _Unwind_Backtrace(add_frame, &stack);
  const bool result = stack.counts && is_new(stack.hash) && count(kMemory, symbol);
  inside = false;
  return result;
}

void* new_memory(std::size_t bytes, std::size_t alignment, void* caller, bool throws) {
  void* memory = nullptr;
  if (!memory_fails("operator new", caller)) {
    static constinit Next next("posix_memalign");
    reinterpret_cast<int (*)(void**, std::size_t, std::size_t)>(next.get())(&memory, alignment, bytes);
  }
  if (memory == nullptr && throws) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kUsual = alignof(std::max_align_t);

}  // namespace

#define FAULTY_MEMORY(symbol, failure) \
  FAULTY_IF(memory_fails(#symbol, __builtin_return_address(0)), symbol, failure)
FAULTY_MEMORY(malloc, 0)
FAULTY_MEMORY(calloc, 0)
FAULTY_MEMORY(realloc, 0)
FAULTY_MEMORY(aligned_alloc, 0)
FAULTY_MEMORY(posix_memalign, ENOMEM)

#define CALLER __builtin_return_address(0)
#define EXPORTED [[gnu::visibility("default")]]
EXPORTED void* operator new(std::size_t n) { return new_memory(n, kUsual, CALLER, true); }
EXPORTED void* operator new[](std::size_t n) { return new_memory(n, kUsual, CALLER, true); }
EXPORTED void* operator new(std::size_t n, std::align_val_t a) {
  return new_memory(n, static_cast<std::size_t>(a), CALLER, true);
}
EXPORTED void* operator new[](std::size_t n, std::align_val_t a) {
  return new_memory(n, static_cast<std::size_t>(a), CALLER, true);
}
EXPORTED void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return new_memory(n, kUsual, CALLER, false);
}
EXPORTED void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return new_memory(n, kUsual, CALLER, false);
}
