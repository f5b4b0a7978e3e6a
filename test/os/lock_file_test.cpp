#include "convoke/os/lock_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "convoke/os/atomic_file.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace std::chrono_literals;

namespace {

// A holder is dead if its text begins with "dead".
bool lives(const std::string& text, double) { return !text.starts_with("dead"); }

std::string holder_of(const fs::path& file) try {
  const os::LockFile lock(file, "second", lives);
  return "second";
} catch (const os::LockHeld& held) {
  return held.holder;
}

/// Sends one byte from one process to another, which waits for it.
class Bell {
 public:
  Bell() { REQUIRE(::pipe(ends_) == 0); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void ring() const { REQUIRE(::write(ends_[1], "!", 1) == 1); }
  void wait() const {
    char byte = 0;
    REQUIRE(::read(ends_[0], &byte, 1) == 1);
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace

TEST_CASE("a lock names its holder and disappears with it") {
  const TemporaryFolder folder;
  {
    const os::LockFile lock(folder / "lock", "first", lives);
    CHECK_FALSE(lock.taken_over());
    CHECK(bytes_of(folder / "lock") == "first");
    CHECK(holder_of(folder / "lock") == "first");
    CHECK(entries_in(folder.path()).size() == 1);
  }
  CHECK(entries_in(folder.path()).empty());
  CHECK_THROWS_AS(os::LockFile(folder / "none/lock", "first", lives), Error);
}

TEST_CASE("two processes that find the same holder dead: one gets the lock") {
  const TemporaryFolder folder;
  std::ofstream(folder / "lock") << "dead";
  const Bell found_dead, go_on;
  const pid_t other = ::fork();
  if (other == 0) {
    // Stops at the worst place: it knows that the holder is dead, and has not removed its lock yet.
    const auto slowly = [&](const std::string& text, double) {
      if (text == "dead") {
        found_dead.ring();
        go_on.wait();
      }
      return lives(text, 0);
    };
    try {
      const os::LockFile lock(folder / "lock", "other", slowly);
    } catch (const os::LockHeld& held) {
      ::_exit(held.holder == "mine" ? 3 : 4);
    }
    ::_exit(5);  // it also has the lock
  }
  found_dead.wait();
  {
    const os::LockFile mine(folder / "lock", "mine", lives);
    CHECK(mine.taken_over() == "dead");
    go_on.ring();
    int status = 0;
    ::waitpid(other, &status, 0);
    CHECK(WEXITSTATUS(status) == 3);
    CHECK(bytes_of(folder / "lock") == "mine");
    CHECK(entries_in(folder.path()).size() == 1);
  }
  CHECK(entries_in(folder.path()).empty());
}

TEST_CASE("a process gets the lock although another one removed its temporary file") {
  const TemporaryFolder folder;
  std::ofstream(folder / "lock") << "dead";
  int removed = 0;
  const auto clean_up = [&](const std::string& text, double) {
    if (text == "dead") {
      os::remove_temporaries(folder.path());
      ++removed;
    }
    return lives(text, 0);
  };
  const os::LockFile lock(folder / "lock", "mine", clean_up);
  CHECK(removed == 1);
  CHECK(lock.taken_over() == "dead");
  CHECK(bytes_of(folder / "lock") == "mine");
  CHECK(entries_in(folder.path()).size() == 1);
}

TEST_CASE("a process that died while it took a lock over does not block others") {
  const TemporaryFolder folder;
  std::ofstream(folder / "lock") << "dead";
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char c : std::string("dead")) {
    hash ^= c;
    hash *= 0x100000001b3;
  }
  char name[32];
  std::snprintf(name, sizeof name, "lock.%016llx", static_cast<unsigned long long>(hash));
  std::ofstream(folder / name) << "dead as well";
  const os::LockFile lock(folder / "lock", "mine", lives);
  CHECK(lock.taken_over() == "dead");
  CHECK(bytes_of(folder / "lock") == "mine");
  CHECK(entries_in(folder.path()).size() == 1);
}

TEST_CASE("a replaced holder does not touch the lock of its successor") {
  const TemporaryFolder folder;
  auto lock = std::make_unique<os::LockFile>(folder / "lock", "mine", lives);
  fs::remove(folder / "lock");
  std::ofstream(folder / "lock") << "successor";
  const auto then = fs::last_write_time(folder / "lock") - 10min;
  fs::last_write_time(folder / "lock", then);
  CHECK_FALSE(lock->renew());
  CHECK(fs::last_write_time(folder / "lock") == then);
  lock.reset();
  CHECK(bytes_of(folder / "lock") == "successor");
  CHECK(entries_in(folder.path()).size() == 1);
}

TEST_CASE("the age of a lock is the time since its renewal") {
  const TemporaryFolder folder;
  const os::LockFile lock(folder / "lock", "mine", lives);
  double silent = -1;
  const auto listen = [&](const std::string&, double seconds) {
    silent = seconds;
    return true;
  };
  const auto age = [&] {
    CHECK_THROWS_AS(os::LockFile(folder / "lock", "second", listen), os::LockHeld);
    return silent;
  };
  fs::last_write_time(folder / "lock", fs::last_write_time(folder / "lock") - 10min);
  CHECK(age() >= 600);
  CHECK(lock.renew());
  CHECK(age() < 300);
}
