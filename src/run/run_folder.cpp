#include "convoke/run/run_folder.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"

namespace convoke::run {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& folder, const std::string& reason) {
  throw Error(fmt::format("{}: cannot be used as a run folder: {}", folder.string(), reason),
              "choose a writable folder with --output DIR");
}

// Creates a new folder runs/<name>-<time>: if two runs start in the same second, one gets "-2".
fs::path make_new(const std::string& name) {
  const fs::path base =
      fs::path("runs") / fmt::format("{}-{}", name.empty() ? "run" : name, os::time_stamp());
  std::error_code failed;
  fs::create_directories(base.parent_path(), failed);
  if (failed) fail(base.parent_path(), failed.message());
  for (int n = 1;; ++n) {
    const fs::path folder = n == 1 ? base : fs::path(fmt::format("{}-{}", base.string(), n));
    if (fs::create_directory(folder, failed)) return folder;
    if (failed) fail(folder, failed.message());
  }
}

void require_usable(const fs::path& folder) try {
  if (os::is_foreign(folder)) fail(folder, "another user made it in a folder that everybody can write to");
  fs::create_directories(folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(folder, std::generic_category().message(errno));
} catch (const fs::filesystem_error& error) {
  fail(folder, error.code().message());
}

void require_empty(const fs::path& folder) {
  if (!has_content(folder)) return;
  throw Error(fmt::format("{}: is not empty, and run folders are never overwritten", folder.string()),
              "choose another --output, or continue that run with --resume");
}

// Locks a folder that was named. The job that uses a folder with content is a better reason than the content.
std::shared_ptr<RunLock> lock_named(const fs::path& folder, bool resume) {
  require_usable(folder);
  if (!resume && lock_holder(folder).empty()) require_empty(folder);
  auto lock = std::make_shared<RunLock>(folder);
  if (!resume) require_empty(folder);
  return lock;
}

}  // namespace

RunFolder RunFolder::create(const std::string& name, const fs::path& output, bool resume,
                            const mpi::Communicator& world) {
  std::shared_ptr<RunLock> lock;
  RunFolder folder(mpi::on_root(world, [&] {
    const fs::path path = output.empty() ? make_new(name) : output;
    lock = output.empty() ? std::make_shared<RunLock>(path) : lock_named(path, resume);
    os::remove_temporaries(path);
    return path.string();
  }));
  folder.lock_ = std::move(lock);
  return folder;
}

fs::path RunFolder::checkpoints(std::int64_t member) const {
  return checkpoints() / fmt::format("member-{:03}", member);
}

namespace {

/// The owner of a lock.
struct Holder {
  std::string host = {};
  std::int64_t pid = 0;  ///< 0: unknown
  std::string started =
      {};  ///< start time of the process in ticks since the host booted, because process numbers are reused
  std::string pid_space = {};  ///< the process namespace of `pid`: containers have their own
  std::string job = {};        ///< Slurm job; empty: none
  std::int64_t restarts = 0;   ///< restarts of that job

  std::string to_string() const {
    if (pid <= 0) return "an unknown process";
    return fmt::format("process {} on {}{}", pid, host,
                       job.empty() ? "" : fmt::format(" (Slurm job {})", job));
  }
};

constexpr std::array kHolderFields{
    field<&Holder::host>("host"),           field<&Holder::pid>("pid"), field<&Holder::started>("started"),
    field<&Holder::pid_space>("pid_space"), field<&Holder::job>("job"), field<&Holder::restarts>("restarts"),
};

Holder myself() {
  return {.host = os::host_name(),
          .pid = os::process_number(),
          .started = os::start_of_process(os::process_number()),
          .pid_space = os::process_space(),
          .job = os::variable("SLURM_JOB_ID").value_or(""),
          .restarts = os::number_in("SLURM_RESTART_COUNT").value_or(0)};
}

// `key` distinguishes successive locks of one process.
std::string to_json(const Holder& holder) {
  static std::atomic<std::int64_t> taken = 0;
  Settings settings = to_settings(kHolderFields, holder);
  settings.set("key", ++taken);
  return metrics::to_json(settings) + "\n";
}

// A lock that cannot be read belongs to an unknown process, so its age decides whether it is stale.
Holder holder_from(const std::string& text) try {
  return from_settings(kHolderFields, metrics::settings_from_json(text, "lock"), "lock");
} catch (const Error&) {
  return {};
}

bool lives(const Holder& holder, const Holder& me, double silence) {
  if (holder.host == me.host && holder.pid_space == me.pid_space)
    return !holder.started.empty() && os::start_of_process(holder.pid) == holder.started;
  if (!holder.job.empty() && holder.job == me.job && holder.restarts < me.restarts) return false;
  return silence < kLockSilence;
}

bool lives_by_lock(const std::string& text, double silence) {
  return lives(holder_from(text), myself(), silence);
}

// Says how to get a folder that `holder` uses.
std::string way_to(const fs::path& folder, const Holder& holder) {
  if (!holder.job.empty()) return fmt::format("wait for it, or end it with `scancel {}`", holder.job);
  if (holder.pid > 0)
    return fmt::format("wait for it, or end it with `kill {}` on {}", holder.pid, holder.host);
  return fmt::format("{} cannot be read: if no job uses this folder, remove it, or wait for {:.0f} s",
                     (folder / "lock").string(), kLockSilence);
}

[[noreturn]] void refuse(const fs::path& folder, const os::LockHeld& held) {
  const Holder holder = holder_from(held.holder);
  throw Error(fmt::format("{}: is in use by {}, last seen {:.0f} s ago", folder.string(), holder.to_string(),
                          std::max(0.0, held.silent_seconds)),
              way_to(folder, holder));
}

}  // namespace

// The age of the lock is unknown here: a process of another host is assumed to be alive.
std::string lock_holder(const fs::path& folder) {
  const std::optional<std::string> text = read_text(folder / "lock");
  if (!text) return {};
  const Holder holder = holder_from(*text);
  return lives(holder, myself(), 0) ? holder.to_string() : std::string();
}

// A lock that is being made or taken over has names like "lock.<digits>" (os::LockFile).
bool has_content(const fs::path& folder) {
  std::error_code failed;
  const fs::directory_iterator entries(folder, failed);
  if (failed) throw Error(fmt::format("{}: cannot be listed: {}", folder.string(), failed.message()));
  return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name != "lock" && !name.starts_with("lock.");
  });
}

namespace {

// Two jobs must not write into one folder.
void end_without_lock(const fs::path& folder) {
  mpi::Session::abort(
      Error(fmt::format("{}: {} has taken over this run, because this job gave no sign of life for {:.0f} s",
                        folder.string(), holder_from(read_text(folder / "lock").value_or("")).to_string(),
                        kLockSilence),
            "that job continues it, so this one ends"));
}

}  // namespace

RunLock::RunLock(const fs::path& folder, std::chrono::milliseconds renewal) try
    : lock_(folder / "lock", to_json(myself()), lives_by_lock), renewer_(renewal, [this, folder] {
        if (!lock_.renew()) end_without_lock(folder);
      }) {
} catch (const os::LockHeld& held) {
  refuse(folder, held);
} catch (const Error& error) {
  throw Error(fmt::format("{}: cannot be locked: {}", folder.string(), error.what()),
              error.hint().empty() ? "choose a writable folder with --output DIR" : error.hint());
}

std::string RunLock::taken_over() const {
  const std::optional<std::string>& text = lock_.taken_over();
  return text ? holder_from(*text).to_string() : std::string();
}

}  // namespace convoke::run
