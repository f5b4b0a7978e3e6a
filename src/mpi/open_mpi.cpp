#include "mpi/open_mpi.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/library.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/process.hpp"

namespace convoke::mpi::open_mpi {
namespace {

#if defined(OMPI_MAJOR_VERSION)
constexpr int kVersion = OMPI_MAJOR_VERSION;
#else
constexpr int kVersion = 0;  // another MPI library
#endif

constexpr const char* kMessages = "OMPI_MCA_pml";

/// The ranks of this host, as far as the launcher says: mpirun, or srun ("16(x2),4": the largest number).
std::int64_t local_ranks() {
  if (const auto ranks = os::number_in("OMPI_COMM_WORLD_LOCAL_SIZE")) return *ranks;
  const std::vector<std::int64_t> tasks = os::repeated_numbers_in("SLURM_STEP_TASKS_PER_NODE");
  return tasks.empty() ? 1 : *std::ranges::max_element(tasks);
}

/// True if all ranks are on this host, as far as the launcher says. A process without a launcher is the only
/// rank.
bool only_this_host() {
  if (const auto ranks = os::number_in("OMPI_COMM_WORLD_SIZE")) return local_ranks() == *ranks;
  return !launcher() || os::number_in("SLURM_STEP_NUM_NODES") == 1;
}

bool has_room(const char* folder, std::uint64_t bytes) {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(folder, unknown);
  return !unknown && space.available >= bytes && ::access(folder, W_OK) == 0;
}

/// Between ranks of a node, Open MPI 4 lets the receiver's kernel copy a message out of the sender's memory
/// (CMA), page by page. Copying through a piece of shared memory that stays in the cache is two to three
/// times as fast. Measured on 2 cores of an AMD EPYC, MPI_Iallreduce of floats, polled, microseconds with and
/// without CMA: 64 KiB 15, 6; 128 KiB 27, 9; 384 KiB 74, 31; 1 MiB 256, 114; 4 MiB 1754, 527. The user's
/// setting has priority.
///
/// If each rank is the first process of its own container, all have the number 1. Each then takes the
/// segments of the others for its own, and dies of SIGSEGV. Such ranks exchange messages by TCP.
void choose_transport() {
  if (kVersion != 4) return;
  os::set_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
  if (os::process_number() == 1 && local_ranks() > 1) os::set_default("OMPI_MCA_btl", "self,tcp");
}

/// By default, Open MPI sums in place along a tree, where rank 0 sends and receives the whole array
/// log2(ranks) times. With Rabenseifner's algorithm (ICCS 2004; Open MPI's number is 3) every rank sends less
/// than twice the array if there are 2^k ranks, and at most four times. Few nodes use neither, see
/// sync::AllReduce. The user's setting has priority.
void choose_sums() {
  if (kVersion != 0) os::set_default("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "3");
}

/// Open MPI 4 makes a segment of 4 MiB for each rank of a node in /dev/shm. Without enough space there
/// (containers have 64 MiB, some 1 or none), it dies of SIGSEGV at the first message. Files in /tmp, mapped
/// into memory, work as well until the kernel writes them out. The user's setting has priority.
void make_room_for_segments() {
  if (kVersion != 4) return;
  constexpr std::uint64_t kPerRank = std::uint64_t{5} << 20;
  const std::int64_t ranks = local_ranks();
  if (ranks <= 1 || has_room("/dev/shm", kPerRank * static_cast<std::uint64_t>(ranks))) return;
  os::set_default("OMPI_MCA_btl_vader_backing_directory", "/tmp");
}

/// A process that no launcher has started is the only rank. By default, Open MPI 4 starts a daemon (orted)
/// for it, for MPI_Comm_spawn, which Convoke does not call. The daemon takes 0.1 s, and outlives the process;
/// in a container without an init process it stays as a zombie. Open MPI also makes a folder in $TMPDIR or
/// /tmp, which may be read-only, for files that such a process does not have. Without the daemon all
/// processes have the same folder, and one that ends removes it while another begins. The user's settings
/// have priority.
void be_the_only_rank() {
  if (kVersion != 4 || launcher()) return;
  os::set_default("OMPI_MCA_ess_singleton_isolated", "1");
  os::set_default("OMPI_MCA_orte_create_session_dirs", "0");
}

using ShowHelp = int (*)(const char*, const char*, bool, ...);

constexpr std::array<std::string_view, 2> kTried{"Open MPI v4.1.", "Open MPI v5.0."};

int print_nothing(const char*, const char*, bool, ...) { return 0; }

// In later versions it may be a function, whose first bytes must not be overwritten.
bool is_pointer(void* symbol) {
  Dl_info place{};
  void* found = nullptr;
  if (dladdr1(symbol, &place, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
  const auto* const entry = static_cast<const ElfW(Sym)*>(found);
  return ELF64_ST_TYPE(entry->st_info) == STT_OBJECT && entry->st_size == sizeof(ShowHelp);
}

}  // namespace

void choose_settings() {
  choose_transport();
  choose_sums();
  make_room_for_segments();
  be_the_only_rank();
}

LocalMessages::LocalMessages() : chosen_(kVersion == 4 && only_this_host() && !os::variable(kMessages)) {
  if (chosen_) os::set_default(kMessages, "ob1");
}

LocalMessages::~LocalMessages() {
  if (chosen_) ::unsetenv(kMessages);
}

void take_segment() {
  const std::optional<std::int64_t> rank = os::number_in("OMPI_COMM_WORLD_NODE_RANK");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; rank && std::getline(maps, line);) {  // "7f7e2fbff000-7f7e30000000 rw-s ... /path"
    const std::size_t path = line.find('/');
    const bool is_segment =
        path != std::string::npos && (line.find("/vader_segment.", path) != std::string::npos ||
                                      line.find("/sm_segment.", path) != std::string::npos);
    if (!is_segment || !line.ends_with(fmt::format(".{}", *rank))) continue;
    std::size_t dash = 0;
    const std::uint64_t begin = std::stoull(line, &dash, 16),
                        end = std::stoull(line.substr(dash + 1), nullptr, 16);
    if (os::take_pages({reinterpret_cast<std::byte*>(begin), end - begin})) continue;
    throw Error(fmt::format("{}: {}: no room for the {} through which this rank exchanges messages",
                            os::host_name(), line.substr(path), format_bytes(end - begin)),
                "enlarge /dev/shm (docker run --shm-size=1g), or let Open MPI use another folder:\n"
                "        export OMPI_MCA_btl_vader_backing_directory=/tmp");
  }
}

void ask_prterun_to_end() {
  if (os::parent_name() != "prterun") return;
  std::signal(SIGTERM, SIG_DFL);  // so that it also ends this process
  if (kill(getppid(), SIGTERM) == 0) std::this_thread::sleep_for(std::chrono::seconds(10));
}

bool silence_banners(const std::string& library_version) {
  const bool tried = std::any_of(kTried.begin(), kTried.end(),
                                 [&](std::string_view begin) { return library_version.starts_with(begin); });
  void* const symbol = tried ? dlsym(RTLD_DEFAULT, "opal_show_help") : nullptr;
  if (symbol == nullptr || !is_pointer(symbol)) return false;
  *static_cast<ShowHelp*>(symbol) = print_nothing;
  return true;
}

}  // namespace convoke::mpi::open_mpi
