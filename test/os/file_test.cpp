#include "convoke/os/file.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"

using namespace convoke;
using os::Access;

namespace {

auto bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("a file is opened in the requested way and closed by its owner") {
  const TemporaryFolder folder;
  const auto path = folder / "a";
  const std::size_t before = entries_in("/proc/self/fd").size();
  {
    CHECK_THAT(error_of([&] { os::File(path, Access::kRead); }),
               Contains("a: cannot be opened: No such file or directory"));
    CHECK_THAT(error_of([&] { os::File(folder / "none/a", Access::kCreate); }),
               Contains("a: cannot be created: No such file"));
    os::File file(path, Access::kCreate, 0600);
    CHECK(file);
    CHECK(file.path() == path);
    file.write_at(0, bytes("0123456789"));
    file.write_at(12, bytes("c"));
    CHECK(file.size() == 13);
    os::File moved = std::move(file);
    CHECK_FALSE(file);  // NOLINT: moved from on purpose
    CHECK(moved.text() == std::string("0123456789\0\0c", 13));
    moved.resize(10);
    moved.sync();
    moved.close();
    CHECK_FALSE(moved);
  }
  CHECK(os::File(path, Access::kReadWrite).text() == "0123456789");
  os::File(path, Access::kCreate).write_at(0, bytes("A"));
  os::File(path, Access::kWrite).write_at(1, bytes("B"));
  os::File(path, Access::kAppend).write_at(0, bytes("end"));
  CHECK(bytes_of(path) == "AB23456789end");
  CHECK(os::File(path, Access::kTruncate).size() == 0);
  CHECK(entries_in("/proc/self/fd").size() == before);
}

TEST_CASE("reading reports the end of a file") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "0123456789";
  const os::File file(folder / "a", Access::kRead);
  std::array<std::byte, 4> four{};
  file.read_at(6, four);
  CHECK(four[3] == std::byte{'9'});
  CHECK(file.read_some_at(8, four) == 2);
  CHECK(file.read_some_at(20, four) == 0);
  CHECK_THAT(error_of([&] { file.read_at(8, four); }),
             Contains("a: is truncated: it ends at byte 10, 2 bytes early"));
  file.will_read(0, 10);
  CHECK_THAT(error_of([&] { os::File(folder.path(), Access::kRead).read_at(0, four); }),
             Contains("cannot be read: Is a directory"));
}

TEST_CASE("pipes, sockets and devices are not read as files, and opening them does not wait") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(error_of([&] { os::File(folder / "pipe", Access::kRead); }),
             Contains("pipe: is a named pipe (FIFO), not a file"));
  fs::create_symlink("pipe", folder / "link");
  CHECK_THAT(error_of([&] { os::File(folder / "link", Access::kRead); }), Contains("link: is a named pipe"));
  CHECK_THAT(error_of([] { os::File("/dev/zero", Access::kRead); }), Contains("/dev/zero: is a device"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const fs::path here = fs::current_path();
  fs::current_path(folder.path());  // a socket's path has at most 107 bytes
  std::memcpy(address.sun_path, "socket", 6);
  const int bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  fs::current_path(here);
  REQUIRE(bound == 0);
  CHECK_THAT(error_of([&] { os::File(folder / "socket", Access::kRead); }),
             Contains("socket: is a socket, not a file"));
  ::close(socket);
  CHECK(os::special_kind(folder / "socket") == "a socket");
  CHECK(os::special_kind(folder.path()).empty());
  CHECK(os::special_kind(folder / "none").empty());
  std::array<std::byte, 1> first{};
  CHECK(os::File("/proc/self/status", Access::kRead).read_some_at(0, first) == 1);
}

TEST_CASE("writing to a full disk is an error that names the file") {
  const TemporaryFolder folder;
  os::File file(folder / "a", Access::kCreate);
  const FileSizeLimit full(4096);
  CHECK_THAT(error_of([&] { file.write_at(0, bytes(std::string(10'000, 'x'))); }),
             Contains("a: cannot be written: File too large"));
  CHECK_THAT(error_of([&] { file.allocate(10'000); }), Contains("a: cannot be written: File too large"));
  CHECK_THAT(error_of([&] { file.resize(10'000); }), Contains("a: cannot be written: File too large"));
}

TEST_CASE("files without a name leave nothing behind") {
  const TemporaryFolder folder;
  os::File memory = os::File::in_memory("notes");
  memory.write_at(0, bytes("in memory"));
  CHECK(memory.text() == "in memory");
  os::File unnamed = os::File::unnamed(folder.path());
  unnamed.write_at(0, bytes("on disk"));
  CHECK(unnamed.text() == "on disk");
  CHECK(fs::is_empty(folder.path()));
  CHECK_THAT(error_of([&] { os::File::unnamed(folder / "none"); }), Contains("none: cannot create a file"));
}

TEST_CASE("a lock is held by one open file") {
  const TemporaryFolder folder;
  os::File first(folder / "lock", Access::kCreate), second(folder / "lock", Access::kCreate);
  CHECK(first.try_lock());
  CHECK_FALSE(second.try_lock());
  first.close();
  CHECK(second.try_lock(true));
  CHECK(os::File(folder / "lock", Access::kRead).try_lock(true));
}
