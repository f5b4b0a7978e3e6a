#include "convoke/mpi/session.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/broken_pipes.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"
#include "mpi/banners.hpp"

namespace convoke::mpi {
namespace {

bool running() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

/// Between ranks of a node, Open MPI 4 lets the receiver's kernel copy a message out of the sender's memory
/// (CMA), page by page. Copying through a piece of shared memory that stays in the cache is two to three
/// times as fast. Measured on 2 cores of an AMD EPYC, MPI_Iallreduce of floats, polled, microseconds with and
/// without CMA: 64 KiB 15, 6; 128 KiB 27, 9; 384 KiB 74, 31; 1 MiB 256, 114; 4 MiB 1754, 527. The user's
/// setting has priority.
void choose_transport() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4
  os::set_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
#endif
}

/// By default, Open MPI sums in place along a tree, where rank 0 sends and receives the whole array
/// log2(ranks) times. With Rabenseifner's algorithm (ICCS 2004; Open MPI's number is 3) every rank sends less
/// than twice the array if there are 2^k ranks, and at most four times. Few nodes use neither, see
/// sync::AllReduce. The user's setting has priority.
void choose_sums() {
#if defined(OMPI_MAJOR_VERSION)
  os::set_default("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "3");
#endif
}

/// Open MPI 4 makes a segment of 4 MiB for each rank of a node in /dev/shm. Without enough space there
/// (containers have 64 MiB, some 1), it dies of SIGSEGV at the first message. Files in /tmp, mapped into
/// memory, work as well until the kernel writes them out. The user's setting has priority.
void make_room_for_segments() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4
  constexpr std::uint64_t kPerRank = std::uint64_t{5} << 20;
  const std::int64_t ranks = os::number_in("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(1);
  std::error_code unknown;
  const std::filesystem::space_info memory = std::filesystem::space("/dev/shm", unknown);
  if (ranks <= 1 || unknown || memory.available >= kPerRank * static_cast<std::uint64_t>(ranks)) return;
  os::set_default("OMPI_MCA_btl_vader_backing_directory", "/tmp");
  os::set_default("OMPI_MCA_osc_sm_backing_directory", "/tmp");
#endif
}

/// Initialises MPI unless it already runs; returns true if it did.
///
/// One thread makes all calls, but another may call MPI_Abort while the first is inside MPI_Wait, which needs
/// MPI_THREAD_MULTIPLE. The cost is not measurable (Open MPI 4.1, 2 ranks, three runs: MPI_Init 244-251 ms at
/// every level, MPI_Allreduce of 4 bytes 0.2-0.4 us, MPI_Test 0.012-0.013 us). A lower level is not an error:
/// the trainer works, and only an abort from the watchdog may fail.
bool start(double& seconds) {
  if (running()) return false;
  const os::Stopwatch watch;
  int provided = 0;
  os::survive_broken_pipes();
  choose_transport();
  choose_sums();
  make_room_for_segments();
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  seconds = watch.seconds();
  return true;
}

std::string report(const std::exception& error, const std::string& prefix) {
  std::string text = fmt::format("{}error: {}\n", prefix, error.what());
  const auto* ours = dynamic_cast<const Error*>(&error);
  if (ours != nullptr && !ours->hint().empty()) text += fmt::format("  hint: {}\n", ours->hint());
  return text;
}

/// Prints in one write, so that the lines of several ranks do not mix.
void print(const std::string& text) {
  std::fflush(nullptr);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// After any failure of a rank, prterun, the launcher of Open MPI 5, prints a banner. Only if it is asked to
/// end the job itself, as by Ctrl-C, does it end without output, and exits with 1. This is possible if it is
/// our parent, on its own node. Returns if it is not, or does not react.
void ask_prterun_to_end() {
  if (os::parent_name() != "prterun") return;
  std::signal(SIGTERM, SIG_DFL);  // so that it also ends this process
  if (kill(getppid(), SIGTERM) == 0) std::this_thread::sleep_for(std::chrono::seconds(10));
}

/// Below the smallest MPI_TAG_UB, and not used elsewhere.
constexpr int kPrintedTag = 32766;

bool may_call_from_any_thread() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// Rank 0 tells the other ranks that it has printed; it does not wait for them.
void notify_others(int size) {
  if (!may_call_from_any_thread()) return;
  for (int rank = 1; rank < size; ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, rank, kPrintedTag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
}

bool rank_0_has_printed() {
  int arrived = 0;
  if (may_call_from_any_thread()) MPI_Iprobe(0, kPrintedTag, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
  return arrived != 0;
}

/// Returns the rank that Open MPI's mpirun gave this process; -1 if another program started it, or MPI is not
/// Open MPI.
int rank_of_open_mpi() {
#ifdef OPEN_MPI
  if (const auto rank = os::number_in("OMPI_COMM_WORLD_RANK")) return static_cast<int>(*rank);
#endif
  return -1;
}

/// An error outside MPI usually occurs on every rank. Rank 0 prints first; its launcher then ends the others.
/// A rank that is still alive after the delay has a different error to print.
void let_rank_0_print_first() {
  for (const char* variable : {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const std::optional<std::int64_t> rank = os::number_in(variable);
    if (!rank) continue;
    if (*rank > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    return;
  }
}

}  // namespace

Session::Session()
    : owns_(start(init_seconds_)),
      exceptions_(std::uncaught_exceptions()),
      world_(Communicator::wrap(MPI_Comm_c2f(MPI_COMM_WORLD))) {}

Session::~Session() {
  if (owns_ && running() && std::uncaught_exceptions() <= exceptions_) MPI_Finalize();
}

// Which rank prints? An error that all ranks have in common (a wrong recipe, a missing file) reaches abort()
// on all of them at about the same time. An agreement through MPI could hang, because the other ranks may be
// anywhere. So time decides: rank 0 prints and aborts at once; every other rank first sleeps for a second and
// 50 ms for each rank before it, and is normally dead by then. The sleep leaves no state behind, and works
// under every launcher and across nodes. At worst, if rank 0 is very late, a message is printed twice. On a
// busy machine the launcher is late, so rank 0 also sends a message, for which no rank waits. If only one
// rank fails, its message comes after the sleep, at most 1.5 seconds late.
//
// Which output is the last? After a rank that ends with an error, mpirun prints two banners, unless MPI_Abort
// told it to end. So an error before MPI runs still starts MPI under mpirun: every other rank also comes
// there, with the same error or with its work. A process without mpirun exits directly. The mpirun of Open
// MPI 5 is asked to end the job instead, if possible; its exit code is then 1.
void Session::abort(const std::exception& error, int code) {
  const int launched_as = rank_of_open_mpi();
  const bool early = !running();
  if (early && launched_as < 0) {
    let_rank_0_print_first();
    print(report(error, ""));
    std::_Exit(code);
  }
  const bool printed = early && launched_as == 0;
  if (printed) {
    print(report(error, ""));
    ask_prterun_to_end();
  }
  if (early) {
    double seconds = 0;
    start(seconds);
  }
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) {
    // The launcher's first attempt to end this process must not count as a request to save.
    std::signal(SIGTERM, SIG_DFL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 + 50 * std::min(rank, 10)));
  }
  if (!printed && !(rank > 0 && rank_0_has_printed())) {
    print(report(error, fmt::format("[rank {} host {}] ", rank, os::host_name())));
  }
  if (rank == 0) notify_others(size);
  if (size > 1 || launched_as >= 0) {
    if (launched_as >= 0) ask_prterun_to_end();
    silence_banners(library_version());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  std::_Exit(code);
}

// mpirun takes any exit code except 0 for a failure and prints two banners, unless MPI_Abort told it to end.
void Session::end(int code) const {
  std::fflush(nullptr);
  if (rank_of_open_mpi() < 0) {
    MPI_Finalize();
    std::_Exit(code);
  }
  world_.barrier();
  std::signal(SIGTERM, SIG_DFL);
  if (!world_.root()) std::this_thread::sleep_for(std::chrono::seconds(10));  // the root ends this process
  silence_banners(library_version());
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

std::string Session::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // "Open MPI v4.1.4, package: ..." or "MPICH Version:      4.0.2\nMPICH Release date: ..."
  std::string version;
  for (const char c : std::string(text.data(), static_cast<std::size_t>(length))) {
    if (c == ',' || c == '\n') break;
    const bool blank = c == ' ' || c == '\t';
    if (!blank || (!version.empty() && version.back() != ' ')) version += blank ? ' ' : c;
  }
  return version;
}

}  // namespace convoke::mpi
