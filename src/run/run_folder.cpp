#include "convoke/run/run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"

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

}  // namespace convoke::run
