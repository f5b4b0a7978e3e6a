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
#include "convoke/mpi/sums.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/host.hpp"
#include "convoke/os/process.hpp"
#include "convoke/os/variable.hpp"
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

/// Between ranks of a node Open MPI 4 has the receiver's kernel copy a message out of the sender's memory
/// (CMA), page by page; through a piece of shared memory that stays in the cache it is two to three times as
/// fast. Measured on 2 cores of an AMD EPYC, MPI_Iallreduce of floats, polled, microseconds with and without
/// CMA: 64 KiB 15, 6; 128 KiB 27, 9; 384 KiB 74, 31; 1 MiB 256, 114; 4 MiB 1754, 527. What the user says
/// counts.
void choose_transport() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4
  os::set_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
#endif
}

/// Has Open MPI sum as sums_for says. The number of ranks is that of the job, since the choice is made before
/// MPI starts; groups of an ensemble get what suits all of them together. What the user says counts.
void choose_sums() {
#if defined(OMPI_MAJOR_VERSION)
  auto ranks = os::number_in("OMPI_COMM_WORLD_SIZE");
  if (!ranks) ranks = os::number_in("SLURM_STEP_NUM_TASKS");
  const Sums sums = sums_for(static_cast<int>(ranks.value_or(1)));
  if (sums == Sums::kTree) return;
  // Open MPI's own numbers.
  os::set_default("OMPI_MCA_coll_libnbc_iallreduce_algorithm", sums == Sums::kRing ? "1" : "3");
#endif
}

/// Open MPI 4 makes a segment of 4 MiB for each rank of a node in /dev/shm, and where there is no room for it
/// (containers have 64 MiB, some 1) dies of the first message by SIGSEGV. Files in /tmp, mapped into memory,
/// do as well until the kernel writes them out. What the user says counts.
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

/// Initialises MPI unless it runs; true if it was us.
///
/// One thread makes all calls, but another may call MPI_Abort while the first is inside MPI_Wait: that takes
/// MPI_THREAD_MULTIPLE. It costs nothing here (Open MPI 4.1, 2 ranks, three runs: MPI_Init 244-251 ms at
/// every level, MPI_Allreduce of 4 bytes 0.2-0.4 us, MPI_Test 0.012-0.013 us). Less than that is no error:
/// the trainer works, and only an abort from the watchdog relies on luck.
bool start(double& seconds) {
  if (running()) return false;
  const os::Stopwatch watch;
  int provided = 0;
  choose_transport();
  choose_sums();
  make_room_for_segments();
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  seconds = watch.seconds();
  return true;
}

std::string report(const std::exception& error, const std::string& who) {
  std::string text = fmt::format("{}error: {}\n", who, error.what());
  const auto* ours = dynamic_cast<const Error*>(&error);
  if (ours != nullptr && !ours->hint().empty()) text += fmt::format("  hint: {}\n", ours->hint());
  return text;
}

/// In one write, so that the lines of several ranks do not mix.
void print(const std::string& text) {
  std::fflush(nullptr);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// prterun, the launcher of Open MPI 5, follows whatever way a rank fails in by a banner of its own; only if
/// it is asked itself to end the job, as by Ctrl-C, it does so without a word, and exits with 1. It can be
/// asked where it is our parent: on its own node. Returns if it is not, or does not listen.
void ask_prterun_to_end() {
  if (os::parent_name() != "prterun") return;
  std::signal(SIGTERM, SIG_DFL);  // so it ends us, too
  if (kill(getppid(), SIGTERM) == 0) std::this_thread::sleep_for(std::chrono::seconds(10));
}

/// Below the smallest MPI_TAG_UB, and of nobody else.
constexpr int kToldTag = 32766;

bool may_call_from_any_thread() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// Rank 0 lets the others know that it has printed; nobody waits for it.
void tell_others(int size) {
  if (!may_call_from_any_thread()) return;
  for (int rank = 1; rank < size; ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, rank, kToldTag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
}

bool rank_0_has_told() {
  int told = 0;
  if (may_call_from_any_thread()) MPI_Iprobe(0, kToldTag, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
  return told != 0;
}

/// The rank that the mpirun of Open MPI has given this process; -1: it was not started by it, or is of
/// another MPI.
int rank_of_open_mpi() {
#ifdef OPEN_MPI
  if (const auto rank = os::number_in("OMPI_COMM_WORLD_RANK")) return static_cast<int>(*rank);
#endif
  return -1;
}

/// Outside MPI: what goes wrong there goes wrong on every rank. Rank 0 speaks first; its launcher then ends
/// the others, and one that is still there after this has something of its own to say.
void let_rank_0_speak_first() {
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

// Who prints? An error that all ranks have alike (a wrong recipe, a missing file) reaches abort() on all of
// them at about the same time, and an agreement through MPI could hang, since nobody knows where the other
// ranks are. So time decides: rank 0 prints and aborts at once; every other rank first sleeps for a
// second and 50 ms for each rank before it, and is normally dead by then. The sleep needs no state that could
// be left behind, works under every launcher and across nodes, and the worst that can happen (rank 0 is that
// late) is a message printed twice. On a busy machine it is the launcher that is late: so rank 0 also sends
// word, for which nobody waits. If only one rank fails, its message comes after the sleep, at most 1.5
// seconds late.
//
// Who has the last word? mpirun follows a rank that ends with an error by two banners of its own, unless it
// was told by MPI_Abort. So an error before MPI is up still brings it up under mpirun: every other rank comes
// there too, with the same error or with its work. A process that no mpirun has started ends by itself. The
// mpirun of Open MPI 5 is asked to end the job instead, where that is possible; its exit code is then 1.
void Session::abort(const std::exception& error, int code) {
  const int launched_as = rank_of_open_mpi();
  const bool early = !running();
  if (early && launched_as < 0) {
    let_rank_0_speak_first();
    print(report(error, ""));
    std::_Exit(code);
  }
  const bool told = early && launched_as == 0;
  if (told) {
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
    std::signal(SIGTERM,
                SIG_DFL);  // the launcher's first attempt to end us must not be taken for a request to save
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 + 50 * std::min(rank, 10)));
  }
  if (!told && !(rank > 0 && rank_0_has_told())) {
    print(report(error, fmt::format("[rank {} host {}] ", rank, os::host_name())));
  }
  if (rank == 0) tell_others(size);
  if (size > 1 || launched_as >= 0) {
    if (launched_as >= 0) ask_prterun_to_end();
    silence_banners(library_version());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  std::_Exit(code);
}

// mpirun takes any exit code but 0 for a failure and says so in two banners, unless it was told by MPI_Abort.
void Session::end(int code) const {
  std::fflush(nullptr);
  if (rank_of_open_mpi() < 0) {
    MPI_Finalize();
    std::_Exit(code);
  }
  world_.barrier();
  std::signal(SIGTERM, SIG_DFL);
  if (!world_.root()) std::this_thread::sleep_for(std::chrono::seconds(10));  // the root ends us
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
