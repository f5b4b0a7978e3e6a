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
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/lost_peers.hpp"
#include "convoke/os/process.hpp"
#include "convoke/os/thread.hpp"
#include "mpi/open_mpi.hpp"

namespace convoke::mpi {
namespace {

bool ended() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

bool running() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized != 0 && !ended();
}

/// The variable in which the mpirun of this MPI library tells a process its rank. MPICH_VERSION: also of
/// libraries that share its ABI, such as Intel MPI.
#if defined(OMPI_MAJOR_VERSION)
constexpr const char* kRankVariable = "OMPI_COMM_WORLD_RANK";
#elif defined(MPICH_VERSION)
constexpr const char* kRankVariable = "PMI_RANK";
#else
constexpr const char* kRankVariable = "";  // unknown
#endif

/// Returns the rank that mpirun gave this process; -1 if another program started it, or it belongs to another
/// MPI.
int rank_by_launcher() { return static_cast<int>(os::number_in(kRankVariable).value_or(-1)); }

/// Initializes MPI unless it already runs; returns true if it did.
///
/// One thread makes all calls, but another may call MPI_Abort while the first is inside MPI_Wait, which needs
/// MPI_THREAD_MULTIPLE. The cost is not measurable (Open MPI 4.1, 2 ranks, three runs: MPI_Init 244-251 ms at
/// every level, MPI_Allreduce of 4 bytes 0.2-0.4 us, MPI_Test 0.012-0.013 us). With MPI_THREAD_SERIALIZED,
/// only an abort by another thread may fail.
bool start(double& seconds) {
  if (running()) return false;
  const os::Stopwatch watch;
  int provided = 0;
  os::survive_broken_pipes();
  open_mpi::choose_settings();
  const open_mpi::LocalMessages messages;
  // Open MPI's first message to an mpirun that has died waits for its answer for ever. After MPI_Init the
  // library notices by itself. There is no message, because output went through mpirun.
  std::optional<os::PeriodicThread> orphan_watch;
  if (rank_by_launcher() >= 0) {
    orphan_watch.emplace(std::chrono::seconds(1), [launcher = getppid()] {
      if (getppid() != launcher) std::_Exit(EXIT_FAILURE);
    });
  }
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    throw Error(fmt::format("{}: MPI_Init_thread failed", os::host_name()),
                "look at the messages of MPI above, and at convoke doctor");
  }
  open_mpi::take_segment();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // check() looks at the results
  seconds = watch.seconds();
  return true;
}

/// Throws Error if this MPI allows calls from one thread only.
void require_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return;
  throw Error(fmt::format("{} allows only {}, but Convoke calls MPI from several threads, one at a time",
                          Session::library_version(),
                          level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED"),
              "use an MPI library that was built for threads: MPI_THREAD_SERIALIZED or above");
}

std::string report(const std::exception& error, const std::string& prefix) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return report(out_of_memory(), prefix);
  std::string text = fmt::format("{}error: {}\n", prefix, error.what());
  const auto* ours = dynamic_cast<const Error*>(&error);
  if (ours != nullptr && !ours->hint().empty()) text += fmt::format("  hint: {}\n", ours->hint());
  return harmless(text);  // messages quote files
}

/// Prints in one write, so that the lines of several ranks do not mix.
void print(const std::string& text) {
  std::fflush(nullptr);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

constexpr auto kPrintedTag = static_cast<int>(Tag::kPrinted);

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

/// Ends all ranks, without further output: the reason has been printed. MPI_Abort waits for the launcher,
/// which may be on the other side of a network that is cut.
[[noreturn]] void end_all(int code) {
  constexpr std::chrono::seconds kPatience(10);
  try {
    os::start_thread([code, kPatience] {
      std::this_thread::sleep_for(kPatience);
      std::_Exit(code);
    }).detach();
  } catch (...) {  // without this thread, only MPI_Abort ends the process
  }
  open_mpi::silence_banners(Session::library_version());
#if defined(MPICH_VERSION)
  // Otherwise MPICH's launcher sometimes ends before it has forwarded the last output.
  if (rank_by_launcher() >= 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
#endif
  if (std::freopen("/dev/null", "w", stderr) == nullptr) std::fclose(stderr);  // MPICH prints a line
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

constexpr std::int64_t kLinkSeconds = 60, kMostLinkSeconds = 1'000'000;
constexpr int kLooks = 8;       // within this time
constexpr int kExitLost = 205;  // as Open MPI's mpirun when it loses a host: job scripts requeue the job

/// Ends the job with an error that names the host if a host that this rank talks to by TCP has not answered
/// for a minute, or for CONVOKE_LINK_TIMEOUT seconds; 0 turns it off. Without it, ranks wait for ever for a
/// host that is cut off: MPI has no time limit, and the kernel waits a quarter of an hour. The thread looks a
/// few times a minute. Returns null if it is off.
std::unique_ptr<os::PeriodicThread> watch_links() {
  std::string given = os::variable("CONVOKE_LINK_TIMEOUT").value_or("");
  if (given.empty()) given = std::to_string(kLinkSeconds);
  const std::int64_t seconds = parse_number<std::int64_t>(given).value_or(-1);
  if (seconds < 0 || seconds > kMostLinkSeconds) {
    throw Error(fmt::format("CONVOKE_LINK_TIMEOUT={}: not a whole number of 0 to {} seconds", given,
                            kMostLinkSeconds),
                "unset it for the default, or write 0 to wait for ever");
  }
  if (seconds == 0) return nullptr;
  const std::chrono::milliseconds interval(1000 * seconds / kLooks);
  return std::make_unique<os::PeriodicThread>(interval, [seconds] {
    const std::vector<std::string> peers = os::silent_peers(static_cast<double>(seconds));
    if (peers.empty()) return;
    Session::abort(
        Error(fmt::format("{} has not answered for {} s: the network is cut, or the host is down",
                          join(peers), seconds),
              "check the hosts and the links between them, then continue with convoke train --resume RUN; "
              "export CONVOKE_LINK_TIMEOUT=SECONDS to wait longer"),
        kExitLost);
  });
}

}  // namespace

Session::Session()
    : owns_(start(init_seconds_)),
      exceptions_(std::uncaught_exceptions()),
      world_(Communicator::wrap(MPI_Comm_c2f(MPI_COMM_WORLD))) {
  if (!owns_) return;
  require_threads();
  if (world_.split_node().size() < world_.size()) links_ = watch_links();
}

Session::~Session() {
  links_.reset();
  if (owns_ && running() && std::uncaught_exceptions() <= exceptions_) MPI_Finalize();
}

namespace {

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
[[noreturn]] void print_and_end(const std::exception& error, int code) {
  const int launched_as = rank_by_launcher();
  const bool early = !running();
  if (ended() || (early && launched_as < 0)) {  // MPI cannot start again
    let_rank_0_print_first();
    print(report(error, ""));
    std::_Exit(code);
  }
  const bool printed = early && launched_as == 0;
  if (printed) {
    print(report(error, ""));
    open_mpi::ask_prterun_to_end();
  }
  if (early) {
    try {
      double seconds = 0;
      start(seconds);
    } catch (const Error&) {
      if (!printed) print(report(error, ""));
      std::_Exit(code);
    }
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
    if (launched_as >= 0) open_mpi::ask_prterun_to_end();
    end_all(code);
  }
  std::_Exit(code);
}

}  // namespace

void Session::abort(const std::exception& error, int code) {
  try {
    print_and_end(error, code);
  } catch (...) {  // mpirun ends the other ranks
    static constexpr std::string_view kText = "error: out of memory\n";
    static_cast<void>(!::write(STDERR_FILENO, kText.data(), kText.size()));
    std::_Exit(code);
  }
}

// mpirun takes any exit code except 0 for a failure and prints two banners, unless MPI_Abort told it to end.
void Session::end(int code) const {
  std::fflush(nullptr);
  if (rank_by_launcher() < 0) {
    MPI_Finalize();
    std::_Exit(code);
  }
  world_.barrier();
  std::signal(SIGTERM, SIG_DFL);
  if (!world_.root()) std::this_thread::sleep_for(std::chrono::seconds(10));  // the root ends this process
  end_all(code);
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
