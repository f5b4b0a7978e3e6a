// A library to preload (LD_PRELOAD): makes the n-th call of one kind fail. The environment:
// * CONVOKE_FAULT_CALL: the kind (open, read, write, fsync, rename, link, mmap, thread, memory, hdf5, onednn,
//   mpi)
// * CONVOKE_FAULT_AT: the number of the call that fails, from 1
// * CONVOKE_FAULT_STAYS=1: all later ones fail too
// * CONVOKE_FAULT_RANK: only in this rank
// * CONVOKE_FAULT_COUNT: a file that gets the number of calls of each kind when the process ends
// * CONVOKE_FAULT_TRACE=1: prints where the call failed
// Calls count from main() on, because nothing can catch the exceptions of global variables.
// Only calls out of the program itself, libhdf5, libstdc++ and libfmt count: MPI and the system would end the
// process in ways of their own. Without memory, oneDNN 2, HDF5 1.10 and the folders and paths of libstdc++ 12
// crash in functions of their own, so their memory does not count. Memory and the libraries have too many
// calls, so the first call from each place counts. Writes to standard output and error do not count, because
// they report the fault.
#include <execinfo.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "faults.hpp"

namespace faults {
namespace {

constexpr int kKinds = kMpi + 1;
constexpr std::array<const char*, kKinds> kNames{"open", "read",   "write",  "fsync", "rename", "link",
                                                 "mmap", "thread", "memory", "hdf5",  "onednn", "mpi"};
constexpr std::array<int, kKinds> kErrors{EMFILE, EIO,    ENOSPC, EIO, EIO, EIO,
                                          ENOMEM, EAGAIN, ENOMEM, 0,   0,   0};

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool standard_library = false, hdf5 = false;
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
    ranges[range_count++] = {begin, begin + part.p_memsz, name.find(kLibraries[0]) != name.npos,
                             name.find(kLibraries[1]) != name.npos};
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

thread_local bool inside = false;  // this thread walks a stack

/// The calls that led to an allocation.
struct Stack {
  static constexpr int kDepth = 3;
  Kind kind;
  std::uintptr_t caller;  // the innermost frame that is not of this library
  bool found = false;
  bool counts = false;
  int frames = 0;
  std::uint64_t hash = 0;
};

enum class Owner { kProgram, kStandard, kFilesystem };

Owner find_owner(std::uintptr_t address) {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_sname != nullptr;
  const std::string_view symbol = found ? info.dli_sname : "";
  if (symbol.starts_with("_ZNSt10filesystem") || symbol.starts_with("_ZNKSt10filesystem"))
    return Owner::kFilesystem;
  const bool standard =
      range_of(address)->standard_library || symbol.starts_with("_ZNSt7__cxx1112basic_string");
  return standard ? Owner::kStandard : Owner::kProgram;
}

/// Returns the owner of the function at this address, which may be std::string compiled into the program.
Owner owner_of(std::uintptr_t address) {
  static std::array<std::atomic<std::uintptr_t>, 4096> known{};  // addresses, times four; plus the owner
  auto& entry = known[address % known.size()];
  const std::uintptr_t there = entry;
  if (there / 4 == address) return static_cast<Owner>(there % 4);
  const Owner owner = find_owner(address);
  entry = 4 * address + static_cast<std::uintptr_t>(owner);
  return owner;
}

// The frames of libstdc++ are the same for all strings, so the ones above them tell the places apart.
_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* out) {
  auto& stack = *static_cast<Stack*>(out);
  const std::uintptr_t address = _Unwind_GetIP(context);
  stack.found = stack.found || address == stack.caller;
  if (!stack.found) return _URC_NO_REASON;
  const Range* const range = range_of(address);
  if (stack.frames == 0) {
    if (range == nullptr || (stack.kind == kMemory && range->hdf5)) return _URC_END_OF_STACK;
    const Owner owner = stack.kind == kMemory ? owner_of(address) : Owner::kProgram;
    if (owner == Owner::kFilesystem) return _URC_END_OF_STACK;
    if (owner == Owner::kStandard) return _URC_NO_REASON;
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

}  // namespace

bool fails(Kind kind, const char* symbol, void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (!ready || inside || (fault_kind != kind && count_file == nullptr) || range_of(address) == nullptr)
    return false;
  if (kind < kMemory) return count(kind, symbol);
  inside = true;
  Stack stack{.kind = kind, .caller = address};
  _Unwind_Backtrace(add_frame, &stack);
  const bool result = stack.counts && is_new(stack.hash) && count(kind, symbol);
  inside = false;
  return result;
}

}  // namespace faults

// The begin of the program.

namespace {

using Main = int (*)(int, char**, char**);
Main program = nullptr;

int begin_to_count(int argc, char** argv, char** environment) {
  faults::ready = true;
  return program(argc, argv, environment);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int __libc_start_main(Main main, int argc, char** argv, void* init,
                                                                void* fini, void* end, void* stack) {
  static constinit faults::Next next("__libc_start_main");
  program = main;
  return reinterpret_cast<decltype(&__libc_start_main)>(next.get())(begin_to_count, argc, argv, init, fini,
                                                                    end, stack);
}

// Memory.

namespace {

void* new_memory(std::size_t bytes, std::size_t alignment, void* caller, bool throws) {
  void* memory = nullptr;
  if (!faults::fails(faults::kMemory, "operator new", caller)) {
    static constinit faults::Next next("posix_memalign");
    reinterpret_cast<int (*)(void**, std::size_t, std::size_t)>(next.get())(&memory, alignment, bytes);
  }
  if (memory == nullptr && throws) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kUsual = alignof(std::max_align_t);

}  // namespace

#define FAULTY_MEMORY(symbol, failure) FAULTY(symbol, kMemory, failure)
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
