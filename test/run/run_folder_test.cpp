#include "convoke/run/run_folder.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/pattern.hpp"
#include "support/shared_folder.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using convoke::Error;
using convoke::run::RunFolder;

namespace {

/// The working directory of all ranks.
struct WorkingFolder : SharedFolder {
  explicit WorkingFolder(const convoke::mpi::Communicator& world) : SharedFolder(world) {
    fs::current_path(path());
  }
  ~WorkingFolder() { fs::current_path(before); }
  fs::path before = fs::current_path();
};

std::string failure(const fs::path& output, bool resume, const convoke::mpi::Communicator& world) {
  return refusal_of([&] { RunFolder::create("mnist", output, resume, world); });
}

}  // namespace

TEST_CASE("a run gets a new folder with its name and the time, the same on all ranks") {
  const WorkingFolder shared(world());
  std::vector<fs::path> paths;
  for (int i = 0; i < 3; ++i) paths.push_back(RunFolder::create("mnist", {}, false, world()).path());
  for (const fs::path& path : paths) {
    CHECK_FALSE(whole_match(path.string(), "runs/mnist-[0-9]{8}-[0-9]{6}(-[0-9]+)?").empty());
    CHECK(fs::is_directory(path));
    CHECK(world().broadcast(path.string()) == path.string());
  }
  CHECK(paths[0] != paths[1]);
  CHECK(paths[1] != paths[2]);
}

TEST_CASE("a folder with content is used again only to resume") {
  const WorkingFolder shared(world());
  CHECK(RunFolder::create("mnist", "out/deep", false, world()).path() == "out/deep");
  CHECK(failure("out/deep", false, world()).empty());  // still empty
  world().barrier();
  if (world().root()) fs::create_directory("out/deep/checkpoints");
  const std::string why = failure("out/deep", false, world());
  CHECK(contains(why, "out/deep: is not empty"));
  CHECK(contains(why, "--resume"));
  CHECK(failure("out/deep", true, world()).empty());
}

TEST_CASE("a folder that cannot be created is an error on all ranks that names it") {
  const WorkingFolder shared(world());
  if (world().root()) std::fclose(std::fopen("file", "w"));
  world().barrier();
  CHECK(contains(failure("file/run", false, world()), "file/run: cannot be used"));
  CHECK(contains(failure("file", false, world()), "file: cannot be used"));
  CHECK(contains(failure("/proc/run", false, world()), "/proc/run: cannot be used"));
}
