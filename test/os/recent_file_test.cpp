#include "convoke/os/file.hpp"

#include <sys/resource.h>

#include <deque>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;

namespace {

std::size_t descriptors() { return entries_in("/proc/self/fd").size(); }

std::string read(os::RecentFile& file) { return file.open()->text(); }

// Call it before the first file is opened: the process then keeps half as many of them open.
std::size_t limit_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 100);
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur / 2;
}

}  // namespace

TEST_CASE("any number of files is read with half of the files that the process may open") {
  const TemporaryFolder folder;
  const std::size_t most = limit_open_files();
  const std::size_t count = most + 100, before = descriptors();
  std::deque<os::RecentFile> files;
  for (std::size_t i = 0; i < count; ++i) {
    const auto path = folder / std::to_string(i);
    write_file(path, std::to_string(i));
    files.emplace_back(path);
  }
  CHECK(descriptors() == before);  // nothing is opened before it is read
  std::vector<std::thread> readers;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    readers.emplace_back([&, t] {
      for (std::size_t i = 0; i < 2 * count; ++i) {
        const std::size_t at = t % 2 == 0 ? i % count : count - 1 - i % count;
        wrong[t] += read(files[at]) != std::to_string(at);
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == std::vector<int>(4));
  CHECK(os::RecentFile::count_open() == most);
  CHECK(descriptors() == before + most);
  files.clear();
  CHECK(descriptors() == before);
}

TEST_CASE("a file that takes the place of another one is refused") {
  limit_open_files();
  const TemporaryFolder folder;
  write_file(folder / "a", "first");
  os::RecentFile file(folder / "a");
  CHECK(read(file) == "first");
  write_file(folder / "b", "other");
  fs::rename(folder / "b", folder / "a");
  CHECK(read(file) == "first");  // while it is open
  // Others push it out.
  std::deque<os::RecentFile> others;
  write_file(folder / "c", "c");
  while (others.empty() || os::RecentFile::count_open() > others.size()) {
    REQUIRE(read(others.emplace_back(folder / "c")) == "c");
  }
  CHECK_THAT(error_of([&] { read(file); }), Contains("a: was replaced by another file"));
  CHECK_THAT(error_of([&] { os::RecentFile(folder / "none").open(); }),
             Contains("none: cannot be opened: No such file"));
}
