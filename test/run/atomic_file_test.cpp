#include "convoke/run/atomic_file.hpp"

#include <sys/stat.h>

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/full_disk.hpp"
#include "support/temporary_folder.hpp"
#include "support/tiny.hpp"

using convoke::Error;
using convoke::run::replace_file;
using convoke::run::replace_text;
using convoke::run::require_replaceable;

namespace {

std::size_t files_in(const tiny::fs::path& folder) {
  return static_cast<std::size_t>(std::distance(tiny::fs::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("a file is replaced as a whole") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  replace_text(folder / "a.txt", "two");
  CHECK(bytes_of(folder / "a.txt") == "two");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a writer that fails leaves the old file and no temporary") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  const auto fail = [](const tiny::fs::path& temporary) {
    tiny::write_bytes(temporary, "half");
    throw Error("the writer gave up");
  };
  try {
    replace_file(folder / "a.txt", fail);
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          (folder / "a.txt").string() + ": cannot be written: the writer gave up");
    CHECK(error.hint().find("still as it was") != std::string::npos);
  }
  CHECK(bytes_of(folder / "a.txt") == "one");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a full disk is an error that names the file") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  const std::string large(100'000, 'x');
  const FileSizeLimit full(4096);
  try {
    replace_text(folder / "a.txt", large);
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find((folder / "a.txt").string()) == 0);
    CHECK(std::string(error.what()).find("File too large") != std::string::npos);
  }
  CHECK(bytes_of(folder / "a.txt") == "one");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a folder that does not exist is an error that names the file") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(replace_text(folder / "none/a.txt", "one"), Error);
}

TEST_CASE("devices, pipes, folders and what the program prints into are never replaced") {
  const TemporaryFolder folder;
  tiny::fs::create_directories(folder / "a");
  tiny::fs::create_symlink("/dev/full", folder / "device");
  tiny::fs::create_symlink("/proc/self/fd/1", folder / "printed");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const tiny::fs::path& name :
       {folder / "a", folder / "device", folder / "pipe", folder / "printed", tiny::fs::path("/dev/full")}) {
    CAPTURE(name);
    const auto before = tiny::fs::status(name).type();
    try {
      replace_text(name, "lost");
      FAIL("did not throw");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find(name.string() + ": is ") == 0);
      CHECK(error.hint().find("name a regular file") == 0);
    }
    CHECK(tiny::fs::status(name).type() == before);
  }
  CHECK(tiny::fs::is_symlink(tiny::fs::symlink_status(folder / "printed")));
  CHECK(files_in(folder.path()) == 4);
}

TEST_CASE("a link stays one, and what it stands for is replaced") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  tiny::fs::create_symlink("a.txt", folder / "link");
  replace_text(folder / "link", "two");
  CHECK(bytes_of(folder / "a.txt") == "two");
  CHECK(tiny::fs::is_symlink(tiny::fs::symlink_status(folder / "link")));
  CHECK_NOTHROW(require_replaceable(folder / "none.txt"));

  tiny::fs::remove(folder / "a.txt");  // now it stands for nothing
  replace_text(folder / "link", "three");
  CHECK(bytes_of(folder / "link") == "three");
}
