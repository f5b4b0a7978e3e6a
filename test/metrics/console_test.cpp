#include "convoke/metrics/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "convoke/metrics/progress.hpp"
#include "support/catch.hpp"

using convoke::metrics::Console;
using convoke::metrics::standard_error;

namespace {

// Redirects stderr to another descriptor while this object exists.
class Redirected {
 public:
  explicit Redirected(int to) : saved_(dup(STDERR_FILENO)) { dup2(to, STDERR_FILENO); }
  ~Redirected() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }

 private:
  int saved_;
};

std::string read_some(int descriptor) {
  char text[256];
  const ssize_t n = read(descriptor, text, sizeof text);
  return {text, static_cast<std::size_t>(n > 0 ? n : 0)};
}

}  // namespace

TEST_CASE("the console is a terminal if stderr is one, and has its width") {
  const int outside = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(outside >= 0);
  REQUIRE(grantpt(outside) == 0);
  REQUIRE(unlockpt(outside) == 0);
  const int inside = open(ptsname(outside), O_RDWR | O_NOCTTY);
  REQUIRE(inside >= 0);
  const auto resize = [&](unsigned short columns) {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(ioctl(inside, TIOCSWINSZ, &size) == 0);
  };
  int width = -1;
  int resized = -1;
  int unknown = -1;
  int dumb = -1;
  {
    const Redirected redirected(inside);
    setenv("TERM", "xterm", 1);
    const Console console = standard_error();
    resize(47);
    width = console.width();
    resize(133);
    resized = console.width();
    resize(0);
    unknown = console.width();
    console.write("\rlive");
    setenv("TERM", "dumb", 1);
    dumb = standard_error().width();
  }
  CHECK(width == 47);
  CHECK(resized == 133);
  CHECK(unknown == 80);
  CHECK(dumb == 0);
  CHECK(read_some(outside) == "\rlive");
  close(inside);
  close(outside);
}

TEST_CASE("the console is not a terminal if stderr is a pipe") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  int width = -1;
  {
    const Redirected redirected(ends[1]);
    setenv("TERM", "xterm", 1);
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMIX_RANK");
    const Console console = standard_error();
    width = console.width();
    console.write("plain\n");
  }
  CHECK(width == 0);
  CHECK(read_some(ends[0]) == "plain\n");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("the console's clock counts seconds") {
  const Console console = standard_error();
  const double before = console.now();
  usleep(20000);
  const double passed = console.now() - before;
  CHECK(passed >= 0.02);
  CHECK(passed < 5);
}

TEST_CASE("progress is written to stderr, unless it is inactive") {
  for (const bool active : {true, false}) {
    int ends[2];
    REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
    {
      const Redirected redirected(ends[1]);
      convoke::metrics::Progress progress("mnist", 10, active);
      progress.update(1, {});
      progress.epoch_line({.epoch = 1});
      progress.note("x");
      progress.finish();
    }
    CHECK(read_some(ends[0]) == (active ? "mnist  epoch 1\nx\n" : ""));
    close(ends[0]);
    close(ends[1]);
  }
}
