#include "convoke/run/run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/collective.hpp"

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

void require_usable(const fs::path& folder, bool resume) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) fail(folder, failed.message());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(folder, std::generic_category().message(errno));
  const bool empty = fs::is_empty(folder, failed);
  if (failed) fail(folder, failed.message());
  if (!empty && !resume) {
    throw Error(fmt::format("{}: is not empty, and run folders are never overwritten", folder.string()),
                "choose another --output, or continue that run with --resume");
  }
}

}  // namespace

RunFolder RunFolder::create(const std::string& name, const fs::path& output, bool resume,
                            const mpi::Communicator& world) {
  std::shared_ptr<RunLock> lock;
  RunFolder folder(on_root(world, [&] {
    const fs::path path = output.empty() ? make_new(name) : output;
    if (!output.empty()) require_usable(output, resume);
    lock = std::make_shared<RunLock>(path);
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
