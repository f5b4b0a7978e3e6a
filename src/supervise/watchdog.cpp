#include "convoke/supervise/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::supervise {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr double kLongestInterval = 5;  // seconds
constexpr double kBeatsPerSecond = 50;  // of all ranks together: a file server has other work
constexpr int kWatchers = 16;           // ranks that look at all others
constexpr double kPatience = 30;        // seconds, for the rank that reports

double interval_of(double timeout, int ranks) {
  const double wanted = std::max(kLongestInterval, ranks / kBeatsPerSecond);
  return timeout > 0 ? std::min(timeout / 4, wanted) : wanted;
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(1000 * seconds)));
}

// The first rank that makes this folder reports.
fs::path claim_in(const fs::path& folder) { return folder / "reported"; }

std::string make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
  if (!fs::create_directory(folder, failed)) {
    throw Error(fmt::format("{}: cannot be created: {}", folder.string(), failed.message()),
                "choose a writable folder with --output DIR");
  }
  return folder.string();
}

// Returns the hidden folder for a job with this output.
fs::path folder_beside(const fs::path& output) {
  const fs::path whole = fs::absolute(output).lexically_normal();
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();  // "runs/" is "runs"
  fs::path parent = named.parent_path();
  while (!fs::is_directory(parent)) parent = parent.parent_path();
  constexpr std::size_t kLongest = 200;  // of 255 bytes that a name may have
  return parent / fmt::format(".{}.heartbeats", named.filename().string().substr(0, kLongest));
}

// Makes and locks the folder, and removes what a job that was killed has left in it.
std::shared_ptr<run::RunLock> take_folder(const fs::path& folder) {
  if (os::is_foreign(folder) || fs::is_symlink(folder)) throw Error("another user's");
  fs::create_directory(folder);
  auto lock = std::make_shared<run::RunLock>(folder);
  for (const Heartbeat& old : read_heartbeats(folder)) fs::remove(heartbeat_file(folder, old.rank));
  fs::remove(claim_in(folder));
  os::remove_temporaries(folder);
  return lock;
}

}  // namespace

// The watchdog before this one watches until all ranks know the folder.
Watchdog::Watchdog(const fs::path& run, double timeout, const mpi::Communicator& world,
                   std::unique_ptr<Watchdog> before)
    : Watchdog(
          [&] {
            std::string folder = mpi::on_root(world, [&] { return make_folder(heartbeat_folder(run)); });
            before.reset();
            return folder;
          }(),
          "continue with convoke train --resume RUN; set run.stall_timeout to wait longer", timeout, world) {}

std::unique_ptr<Watchdog> Watchdog::beside(const fs::path& output, double timeout, const std::string& hint,
                                           const mpi::Communicator& world) {
  if (timeout <= 0 || world.size() == 1) return nullptr;
  std::shared_ptr<run::RunLock> lock;
  const std::string folder = mpi::on_root(world, [&]() -> std::string {
    try {
      fs::path made = folder_beside(output);
      lock = take_folder(made);
      return made.string();
    } catch (const std::exception&) {  // the job will say itself if it cannot write there
      return {};
    }
  });
  if (folder.empty()) return nullptr;
  std::unique_ptr<Watchdog> watchdog(new Watchdog(folder, hint, timeout, world));
  watchdog->lock_ = std::move(lock);
  return watchdog;
}

Watchdog::Watchdog(fs::path folder, std::string hint, double timeout, const mpi::Communicator& world)
    : folder_(std::move(folder)),
      hint_(std::move(hint)),
      timeout_(timeout),
      interval_(interval_of(timeout, world.size())),
      checks_(timeout > 0 && world.size() > 1 &&
              world.rank() % ((world.size() + kWatchers - 1) / kWatchers) == 0),
      mine_{.rank = world.rank(), .host = os::host_name()},
      ranks_(static_cast<std::size_t>(world.size())) {
  const bool written = beat(0);
  thread_.emplace(milliseconds_of(interval_), [this] { work(); });
  const bool unseen = mpi::any_of(world, !written);
  if (unseen && world.root() && timeout > 0) {
    fmt::print(
        stderr,
        "warning: not all hosts see {} and can write to it: a rank there that hangs is not noticed (run.stall_timeout)\n",
        folder_.string());
  }
}

Watchdog::~Watchdog() {
  thread_.reset();
  std::error_code none;
  fs::remove(heartbeat_file(folder_, mine_.rank), none);
  // After an error, the other ranks may be ended before they come here.
  if (lock_ && std::uncaught_exceptions() > 0) fs::remove_all(folder_, none);
  lock_.reset();
  fs::remove(folder_, none);  // succeeds for the last rank
}

// Time that passes while this process does not run, or a file system hangs, counts as two intervals.
void Watchdog::work() {
  const double elapsed = std::min(std::exchange(since_, {}).seconds(), 2 * interval_);
  const bool written = beat(elapsed);
  // Where this rank cannot write, others cannot either: a full disk is no stall.
  if (checks_ && written) check_heartbeats(elapsed);
}

bool Watchdog::beat(double elapsed) {
  const RankStatus::Reading status = RankStatus::read();
  const bool waits = status.waits_for != nullptr;
  mine_.waiting_seconds = waits && status.waits == last_wait_ ? mine_.waiting_seconds + elapsed : 0;
  last_wait_ = status.waits;
  ++mine_.beat;
  mine_.step = status.step + 1;
  mine_.phase = status.phase == nullptr ? "" : status.phase;
  mine_.waits_for = waits ? status.waits_for : "";
  return write_heartbeat(folder_, mine_);
}

void Watchdog::check_heartbeats(double elapsed) {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    RankLiveness& liveness = ranks_[static_cast<std::size_t>(rank)];
    std::optional<Heartbeat> now = rank == mine_.rank ? mine_ : read_heartbeat(folder_, rank);
    if (now && (!liveness.newest || now->beat != liveness.newest->beat)) {
      liveness = {.newest = std::move(now)};
      continue;
    }
    std::error_code failed;
    const auto kind = fs::status(heartbeat_file(folder_, rank), failed).type();
    liveness.ended = liveness.newest && kind == fs::file_type::not_found;
    liveness.silent_seconds += elapsed;
  }
  const std::optional<Stall> stall = find_stall(ranks_, timeout_);
  // A rank that waits reports where; another one only if none of them does.
  if (stall && (suspected_ || std::ranges::count(stall->waiting, mine_.rank) > 0)) end_job(*stall);
  suspected_ = stall.has_value();
}

bool has_reported_stall(const fs::path& run) {
  std::error_code unknown;
  return fs::exists(claim_in(heartbeat_folder(run)), unknown);
}

void forget_stall(const fs::path& run) {
  std::error_code failed;
  if (has_reported_stall(run) && run::lock_holder(run).empty())
    fs::remove(claim_in(heartbeat_folder(run)), failed);
}

void Watchdog::end_job(const Stall& stall) {
  std::error_code failed;
  const bool first = fs::create_directory(claim_in(folder_), failed);
  if (!first && !find_stall(ranks_, timeout_ + kPatience)) return;  // another rank reports
  std::string text = to_text(stall, ranks_);
  const std::vector<std::string> calls = probe_.calls(1s);
  if (!calls.empty()) text += fmt::format("\n  rank {} is here:\n    {}", mine_.rank, join(calls, "\n    "));
  mpi::Session::abort(
      Error(text,
            "look at the hosts of the ranks that are missing (a stopped process, memory, a file system that "
            "hangs), then " +
                hint_),
      kExitStalled);
}

}  // namespace convoke::supervise
