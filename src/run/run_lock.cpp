#include "convoke/run/run_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"

namespace convoke::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kRenewal = 20s;

/// The owner of a lock.
struct Holder {
  std::string host = {};
  std::int64_t pid = 0;
  std::string started =
      {};  ///< start time of the process in ticks since the host booted, because process numbers are reused
  std::string pid_space = {};  ///< the process namespace of `pid`: containers have their own
  std::string job = {};        ///< Slurm job; empty: none
  std::int64_t restarts = 0;   ///< restarts of that job

  std::string to_string() const {
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

// A lock that cannot be read belongs to an unknown host, so its age decides whether it is stale.
Holder holder_from(const std::string& text) try {
  return from_settings(kHolderFields, metrics::settings_from_json(text, "lock"), "lock");
} catch (const Error&) {
  return Holder{.host = "an unknown host"};
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

[[noreturn]] void refuse(const fs::path& folder, const os::LockHeld& held) {
  const Holder holder = holder_from(held.holder);
  throw Error(fmt::format("{}: is in use by {}, last seen {:.0f} s ago", folder.string(), holder.to_string(),
                          held.silent_seconds),
              holder.job.empty()
                  ? fmt::format("wait for it, or end it with `kill {}` on {}", holder.pid, holder.host)
                  : fmt::format("wait for it, or end it with `scancel {}`", holder.job));
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

RunLock::RunLock(const fs::path& folder) try
    : lock_(folder / "lock", to_json(myself()), lives_by_lock),
      renewer_(kRenewal, [this] { lock_.renew(); }) {
} catch (const os::LockHeld& held) {
  refuse(folder, held);
} catch (const Error& error) {
  throw Error(fmt::format("{}: cannot be locked: {}", folder.string(), error.what()),
              "choose a writable folder with --output DIR");
}

std::string RunLock::taken_over() const {
  const std::optional<std::string>& text = lock_.taken_over();
  return text ? holder_from(*text).to_string() : std::string();
}

}  // namespace convoke::run
