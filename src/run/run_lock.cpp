#include "convoke/run/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/core/text_file.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/metrics/json_file.hpp"
#include "convoke/mpi/session.hpp"

namespace convoke::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kRenewal = 20s;

/// Who holds a folder.
struct Holder {
  std::string host = {};
  std::int64_t pid = 0;
  std::string started =
      {};  ///< of that process, in ticks since the host's start: numbers of processes return
  std::string pid_space = {};  ///< in which the number means this process: containers have their own
  std::string job = {};        ///< of Slurm; empty: none
  std::int64_t restarts = 0;   ///< of that job

  std::string to_string() const {
    return fmt::format("process {} on {}{}", pid, host,
                       job.empty() ? "" : fmt::format(" (Slurm job {})", job));
  }
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Field 22 of /proc/<pid>/stat, behind the name in parentheses; empty: there is no such process.
std::string start_of(std::int64_t pid) {
  const std::string text = read_text(fmt::format("/proc/{}/stat", pid)).value_or("");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
  }
  return field;
}

Holder myself() {
  std::error_code unknown;
  return {.host = mpi::Session::host(),
          .pid = ::getpid(),
          .started = start_of(::getpid()),
          .pid_space = fs::read_symlink("/proc/self/ns/pid", unknown).string(),
          .job = variable("SLURM_JOB_ID"),
          .restarts = std::atoll(variable("SLURM_RESTART_COUNT").c_str())};
}

std::string to_json(const Holder& holder) {
  return metrics::to_json(Settings{{"host", holder.host},
                                   {"pid", holder.pid},
                                   {"started", holder.started},
                                   {"pid_space", holder.pid_space},
                                   {"job", holder.job},
                                   {"restarts", holder.restarts}}) +
         "\n";
}

// Nothing if there is no lock. One that cannot be read is nobody's on no host: its age decides.
std::optional<Holder> read_holder(const fs::path& file) try {
  const std::optional<Settings> settings = metrics::read_json(file);
  if (!settings) return std::nullopt;
  SettingsReader read(*settings, file.string());
  return Holder{.host = read.get("host", ""),
                .pid = read.get("pid", 0),
                .started = read.get("started", ""),
                .pid_space = read.get("pid_space", ""),
                .job = read.get("job", ""),
                .restarts = read.get("restarts", 0)};
} catch (const Error&) {
  return Holder{.host = "an unknown host"};
}

// Seconds since the lock was renewed. Both times are the file system's, whatever the hosts' clocks say.
double silence_of(const fs::path& lock, const fs::path& probe) {
  struct stat then {
  }, now{};
  if (::stat(lock.c_str(), &then) != 0 || ::stat(probe.c_str(), &now) != 0) return 0;
  return static_cast<double>(now.st_mtim.tv_sec - then.st_mtim.tv_sec);
}

bool lives(const Holder& holder, const Holder& me, double silence) {
  if (holder.host == me.host && holder.pid_space == me.pid_space)
    return start_of(holder.pid) == holder.started;
  if (!holder.job.empty() && holder.job == me.job && holder.restarts < me.restarts) return false;
  return silence < kLockSilence;
}

}  // namespace

// Without a file of our own to compare times with: somebody else's host cannot be asked, and is believed.
std::string lock_holder(const fs::path& folder) {
  const std::optional<Holder> holder = read_holder(folder / "lock");
  return holder && lives(*holder, myself(), 0) ? holder->to_string() : std::string();
}

RunLock::RunLock(const fs::path& folder) : file_(folder / "lock") {
  const Holder me = myself();
  const fs::path mine = folder / fmt::format("lock.{}.{}", me.host, me.pid);
  std::ofstream(mine, std::ios::binary | std::ios::trunc) << to_json(me);
  std::error_code ignored;
  // link() gives the name to one of those who want it at once.
  while (::link(mine.c_str(), file_.c_str()) != 0) {
    const int error = errno;
    const std::optional<Holder> holder = error == EEXIST ? read_holder(file_) : std::nullopt;
    if (error == EEXIST && !holder) continue;  // it has gone meanwhile
    const double silence = silence_of(file_, mine);
    if (error == EEXIST && !lives(*holder, me, silence)) {
      taken_over_ = holder->to_string();
      fs::rename(file_, mine.string() + ".left", ignored);
      fs::remove(mine.string() + ".left", ignored);
      continue;
    }
    fs::remove(mine, ignored);
    if (error != EEXIST) {
      throw Error(
          fmt::format("{}: cannot be locked: {}", folder.string(), std::generic_category().message(error)),
          "choose a folder that can be written with --output DIR");
    }
    throw Error(fmt::format("{}: is in use by {}, last seen {:.0f} s ago", folder.string(),
                            holder->to_string(), silence),
                holder->job.empty()
                    ? fmt::format("wait for it, or end it by `kill {}` on {}", holder->pid, holder->host)
                    : fmt::format("wait for it, or end it by `scancel {}`", holder->job));
  }
  fs::remove(mine, ignored);
  renewer_.emplace(kRenewal, [file = file_] {
    ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);  // the server's time, on a network file system
  });
}

RunLock::~RunLock() {
  renewer_.reset();
  std::error_code ignored;
  fs::remove(file_, ignored);
}

}  // namespace convoke::run
