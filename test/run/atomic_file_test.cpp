#include "convoke/run/atomic_file.hpp"

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/full_disk.hpp"
#include "support/temporary_folder.hpp"
#include "support/tiny.hpp"

using convoke::Error;
using convoke::run::replace_file;
using convoke::run::replace_text;

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
