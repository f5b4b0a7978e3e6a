// Jobs in a control group with a memory limit, as a scheduler sets it.
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <system_error>

#include "apps/place.hpp"
#include "convoke/os/memory.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/skip.hpp"

namespace {

/// A control group with a memory limit below that of this process, or below a parent, if one can be created.
class MemoryGroup {
 public:
  MemoryGroup() {
    for (const convoke::os::ControlGroup& group : convoke::os::control_groups("memory")) {
      std::error_code failed;
      const fs::path folder = group.folder / ("convoke-test-" + std::to_string(::getpid()));
      if (!fs::create_directory(folder, failed)) continue;
      folder_ = folder;
      limit_ = folder / (group.unified ? "memory.max" : "memory.limit_in_bytes");
      if (fs::exists(limit_)) return;
      remove();
    }
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  ~MemoryGroup() { remove(); }

  explicit operator bool() const { return !folder_.empty(); }
  bool limit(std::uint64_t bytes) const {
    std::ofstream file(limit_);
    file << bytes;
    file.close();
    return static_cast<bool>(file);
  }
  /// A prefix for commands: the command runs in this group.
  std::string enter() const { return "echo $$ > " + (folder_ / "cgroup.procs").string() + " && exec "; }

 private:
  void remove() {
    for (int i = 0; i < 100 && !folder_.empty(); ++i) {  // an ended process leaves the group later
      if (::rmdir(folder_.c_str()) == 0 || errno == ENOENT) folder_.clear();
      if (!folder_.empty()) ::usleep(20'000);
    }
  }
  fs::path folder_, limit_;
};

bool in_memory(const fs::path& folder) {
  constexpr std::uint32_t kTmpfs = 0x01021994;
  struct statfs system {};
  return ::statfs(folder.c_str(), &system) == 0 && static_cast<std::uint32_t>(system.f_type) == kTmpfs;
}

// Returns the missing bytes from "need 210.5 MiB more, but 12.0 MiB are left".
std::optional<std::uint64_t> lacking(const std::string& text) {
  static const std::string kSizes(R"(need[s]? ([0-9.]+) ([KMG])iB more, but ([0-9.]+) ([KMG])iB are left)");
  const Match found = first_match(text, kSizes);
  if (found.empty()) return std::nullopt;
  const auto bytes = [&](std::size_t number, std::size_t unit) {
    const double scale = found[unit] == "K" ? 0x1p10 : found[unit] == "M" ? 0x1p20 : 0x1p30;
    return std::stod(found[number]) * scale;
  };
  return static_cast<std::uint64_t>(bytes(1, 2) - bytes(3, 4));
}

}  // namespace

TEST_CASE("a job that is admitted under a memory limit survives its checkpoint") {
#ifdef __SANITIZE_ADDRESS__
  return skip("the address sanitizer needs more memory than the limit");
#endif
  const MemoryGroup group;
  const Place place;
  if (!group || !group.limit(std::uint64_t{1} << 30)) return skip("cannot create a control group for memory");
  if (in_memory(place.folder.path())) return skip("the temporary folder is in memory");
  // 8 million parameters, which a checkpoint stores three times: with both moments of Adam.
  write_file(place / "large.toml", R"(name = "large"
seed = 3
[data]
path = "data.h5"
validation_split = 0.2
[model]
input = [1, 8, 8]
layers = [
  { layer = "flatten" },
  { layer = "dense", units = 116000, activation = "relu" },
  { layer = "dense", units = 4, activation = "softmax" },
]
[train]
epochs = 2
batch = 32
optimizer = { name = "adam", learning_rate = 0.001 }
[run]
threads = 1
report = false
)");
  // Finds the first limit at which the job is not refused.
  std::uint64_t limit = std::uint64_t{200} << 20;
  Outcome outcome;
  for (int attempt = 0; attempt < 10; ++attempt) {
    REQUIRE(group.limit(limit));
    outcome = place.run("train large.toml --quiet --output run-" + std::to_string(attempt), group.enter());
    const std::optional<std::uint64_t> more = lacking(outcome.text);
    if (!more) break;
    limit += *more + (std::uint64_t{1} << (outcome.text.find("GiB are left") == std::string::npos ? 20 : 25));
  }
  CAPTURE(limit, outcome.text);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.text, !Contains("left out"));  // every checkpoint was written
  std::size_t checkpoints = 0;
  for (const auto& run : fs::directory_iterator(place.folder.path())) {
    checkpoints += fs::exists(run.path() / "checkpoints/epoch-0002.h5") ? 1U : 0U;
  }
  CHECK(checkpoints == 1);
}
