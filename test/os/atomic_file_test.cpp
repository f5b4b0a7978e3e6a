#include "convoke/os/atomic_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/skip.hpp"

using convoke::Error;
using convoke::os::AtomicFile;
using convoke::os::replace_file;
using convoke::os::replace_text;
using convoke::os::require_replaceable;

TEST_CASE("a file is replaced as a whole") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  replace_text(folder / "a.txt", "two");
  CHECK(bytes_of(folder / "a.txt") == "two");
  CHECK(entries_in(folder.path()).size() == 1);
}

TEST_CASE("a writer that fails leaves the old file and no temporary") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  const auto fail = [](const fs::path& temporary) {
    write_file(temporary, "half");
    throw Error("the writer gave up");
  };
  CHECK_THAT(refusal_of([&] { replace_file(folder / "a.txt", fail); }),
             StartsWith((folder / "a.txt").string() + ": cannot be written: the writer gave up | ") &&
                 Contains("existing file is unchanged"));
  CHECK(bytes_of(folder / "a.txt") == "one");
  CHECK(entries_in(folder.path()).size() == 1);
}

TEST_CASE("a full disk is an error that names the file") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  const std::string large(100'000, 'x');
  const FileSizeLimit full(4096);
  CHECK_THAT(error_of([&] { replace_text(folder / "a.txt", large); }),
             StartsWith((folder / "a.txt").string()) && Contains("File too large"));
  CHECK(bytes_of(folder / "a.txt") == "one");
  CHECK(entries_in(folder.path()).size() == 1);
}

TEST_CASE("a folder that does not exist is an error that names the file") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(replace_text(folder / "none/a.txt", "one"), Error);
}

TEST_CASE("devices, pipes, folders and the program's output are never replaced") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "a");
  fs::create_symlink("/dev/full", folder / "device");
  fs::create_symlink("/proc/self/fd/1", folder / "printed");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const fs::path& name :
       {folder / "a", folder / "device", folder / "pipe", folder / "printed", fs::path("/dev/full")}) {
    CAPTURE(name);
    const auto before = fs::status(name).type();
    CHECK_THAT(refusal_of([&] { replace_text(name, "lost"); }),
               StartsWith(name.string() + ": is ") && Contains(" | name a regular file"));
    CHECK(fs::status(name).type() == before);
  }
  CHECK(fs::is_symlink(fs::symlink_status(folder / "printed")));
  CHECK(entries_in(folder.path()).size() == 4);
}

TEST_CASE("a link stays a link, and the file that it points to is replaced") {
  const TemporaryFolder folder;
  replace_text(folder / "a.txt", "one");
  fs::create_symlink("a.txt", folder / "link");
  replace_text(folder / "link", "two");
  CHECK(bytes_of(folder / "a.txt") == "two");
  CHECK(fs::is_symlink(fs::symlink_status(folder / "link")));
  CHECK_NOTHROW(require_replaceable(folder / "none.txt"));

  fs::remove(folder / "a.txt");  // now the link points to a missing file
  replace_text(folder / "link", "three");
  CHECK(bytes_of(folder / "link") == "three");
}

TEST_CASE("a link that another user made in a shared folder is refused") {
  if (::geteuid() != 0) return skip("only root can make a link of another user");
  const TemporaryFolder folder;
  constexpr uid_t kNobody = 65534;
  const fs::path shared = folder / "shared";
  fs::create_directory(shared);
  fs::permissions(shared, fs::perms::all | fs::perms::sticky_bit);
  replace_text(folder / "mine", "before");
  for (const bool foreign : {true, false}) {
    CAPTURE(foreign);
    fs::remove(shared / "link");
    fs::create_symlink(folder / "mine", shared / "link");
    REQUIRE(::lchown((shared / "link").c_str(), foreign ? kNobody : 0, 0) == 0);
    CHECK(convoke::os::is_foreign(shared / "link") == foreign);
    if (foreign) {
      CHECK_THROWS_AS(AtomicFile(shared / "link"), convoke::Error);
    } else {
      CHECK_NOTHROW(AtomicFile(shared / "link"));
    }
  }
  CHECK(bytes_of(folder / "mine") == "before");
}

TEST_CASE("a temporary name is unique") {
  const TemporaryFolder folder;
  write_file(folder / "a.txt.tmp", "somebody's notes");
  replace_text(folder / "a.txt", "one");
  CHECK(bytes_of(folder / "a.txt.tmp") == "somebody's notes");

  // Two writers at once: both files are complete, and the last one remains.
  convoke::os::AtomicFile first(folder / "a.txt"), second(folder / "a.txt");
  CHECK(first.temporary() != second.temporary());
  CHECK(first.temporary().parent_path() == folder.path());
  write_file(first.temporary(), "first");
  write_file(second.temporary(), "second");
  first.commit();
  CHECK(bytes_of(folder / "a.txt") == "first");
  second.commit(convoke::os::Durability::kUnsynced);
  CHECK(bytes_of(folder / "a.txt") == "second");
  CHECK(entries_in(folder.path()).size() == 2);
}

TEST_CASE("a replaced file keeps its mode, a new one gets the default") {
  const TemporaryFolder folder;
  const auto mode_of = [](const fs::path& file) {
    struct stat facts {};
    REQUIRE(::stat(file.c_str(), &facts) == 0);
    return facts.st_mode & 07777;
  };
  const mode_t umask_before = ::umask(027);
  replace_text(folder / "new.txt", "one");
  ::umask(umask_before);
  CHECK(mode_of(folder / "new.txt") == 0640);
  for (const mode_t mode : {0600U, 0755U, 0664U, 0444U}) {
    CAPTURE(mode);
    REQUIRE(::chmod((folder / "new.txt").c_str(), mode) == 0);
    convoke::os::AtomicFile file(folder / "new.txt");
    CHECK((mode_of(file.temporary()) & 0077) == 0);  // other users cannot read it before
    write_file(file.temporary(), "two");
    file.commit();
    CHECK(mode_of(folder / "new.txt") == mode);
  }
}

TEST_CASE("files of killed writers are recognized by their names and removed") {
  const TemporaryFolder folder;
  const fs::path left = convoke::os::make_temporary(folder / "epoch-0001.h5");
  CHECK(convoke::os::is_temporary(left));
  for (const char* name : {"epoch-0001.h5", "notes.tmp", "a.0123456789a.tmp", "a.0123456789aG.tmp", ".tmp"}) {
    CAPTURE(name);
    CHECK_FALSE(convoke::os::is_temporary(name));
    write_file(folder / name, "kept");
  }
  convoke::os::remove_temporaries(folder.path());
  CHECK_FALSE(exists(left));
  CHECK(entries_in(folder.path()).size() == 5);
  CHECK_NOTHROW(convoke::os::remove_temporaries(folder / "none"));

  const std::string long_name(250, 'n');  // of 255 bytes that a name may have
  replace_text(folder / long_name, "whole");
  CHECK(bytes_of(folder / long_name) == "whole");
}

TEST_CASE("a complete file or folder replaces another one") {
  const TemporaryFolder folder;
  write_file(folder / "new/a", "new");
  write_file(folder / "old/b", "old");
  convoke::os::replace_path(folder / "new", folder / "old");
  CHECK(bytes_of(folder / "old/a") == "new");
  CHECK_FALSE(exists(folder / "old/b"));
  CHECK(entries_in(folder.path()).size() == 1);
  write_file(folder / "file", "file");
  convoke::os::replace_path(folder / "file", folder / "old");
  CHECK(bytes_of(folder / "old") == "file");
  CHECK_THROWS_AS(convoke::os::replace_path(folder / "none", folder / "old"), Error);
  CHECK(bytes_of(folder / "old") == "file");
}
