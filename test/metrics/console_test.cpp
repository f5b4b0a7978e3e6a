#include "convoke/metrics/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/catch.hpp"

using namespace convoke::metrics;

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

// A console with a clock and width that the test sets; it stores the output.
struct Fake {
  Console console() {
    return {.write = [this](std::string_view text) { written += text; },
            .now = [this] { return seconds; },
            .width = [this] { return columns; }};
  }
  std::string take() { return std::exchange(written, {}); }
  std::string written;
  double seconds = 1000;
  int columns = 0;
};

Console broken_console() {
  return {.write = [](std::string_view) { throw std::runtime_error("gone"); },
          .now = [] { return 0.0; },
          .width = [] { return 80; }};
}

const std::string kErase = "\r\x1b[K";

ProgressFields fields(std::int64_t epoch) {
  return {.epoch = epoch, .epochs = 5, .loss = 0.10434, .accuracy = 0.97119, .images_per_second = 6119.6};
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
      Progress progress("mnist", 10, active);
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

TEST_CASE("lines replace the previous ones, and permanent lines are written above them") {
  Fake fake;
  fake.columns = 80;
  LiveBlock block(fake.console());
  block.draw({"one", "two"});
  CHECK(fake.take() == "one\ntwo\n");
  block.draw({"three"});
  CHECK(fake.take() == "\x1b[2A\r\x1b[Jthree\n");
  block.note("a run has ended");
  CHECK(fake.take() == "\x1b[1A\r\x1b[Ja run has ended\n");
  block.clear();
  CHECK(fake.take().empty());
}

TEST_CASE("lines are cut to the terminal's width, in characters") {
  Fake fake;
  fake.columns = 4;
  LiveBlock block(fake.console());
  block.draw({"ÄÖÜabc"});
  CHECK(fake.take() == "ÄÖÜ\n");
}

TEST_CASE("without a terminal only permanent lines are written, and a broken one causes no error") {
  Fake fake;
  LiveBlock block(fake.console());
  CHECK_FALSE(block.is_live());
  block.draw({"one"});
  block.note("two");
  CHECK(fake.take() == "two\n");

  LiveBlock broken(broken_console());
  broken.draw({"one"});
  broken.note("two");
}

TEST_CASE("progress on a terminal redraws one line") {
  Fake fake;
  fake.columns = 200;
  Progress progress("mnist", 1000, fake.console());
  progress.update(100, fields(1));
  CHECK(fake.take() == kErase + "mnist  10 %  epoch 1/5  loss 0.1043  accuracy 0.9712  6,120 images/s");
  fake.seconds += 10;
  progress.update(300, fields(2));  // 200 steps in 10 s, 700 to go
  CHECK(fake.take() ==
        kErase + "mnist  30 %  ETA 35 s  epoch 2/5  loss 0.1043  accuracy 0.9712  6,120 images/s");
  fake.seconds += 10;
  progress.update(1000, {});
  CHECK(fake.take() == kErase + "mnist  100 %");
  progress.finish();
  CHECK(fake.take() == kErase);
  progress.finish();
  CHECK(fake.take().empty());
}

TEST_CASE("progress on a terminal is redrawn at most ten times a second") {
  Fake fake;
  fake.columns = 80;
  Progress progress("mnist", 10000, fake.console());
  int redrawn = 0;
  for (int step = 1; step <= 2000; ++step) {  // two seconds
    fake.seconds += 0.001;
    progress.update(step, fields(1));
    redrawn += fake.take().empty() ? 0 : 1;
  }
  CHECK(redrawn >= 18);
  CHECK(redrawn <= 20);
}

TEST_CASE("progress fits the terminal, even while its width changes") {
  Fake fake;
  fake.columns = 20;
  Progress progress("Ödem", 100, fake.console());
  progress.update(10, fields(1));
  CHECK(fake.take() == kErase + "Ödem  10 %  epoch 1");  // 19 characters
  fake.columns = 12;
  fake.seconds += 1;
  progress.update(20, fields(1));
  CHECK(fake.take() == kErase + "Ödem  20 % ");
  fake.columns = 1;
  fake.seconds += 1;
  progress.update(20, fields(1));
  CHECK(fake.take() == kErase);
}

TEST_CASE("finished epochs stay above the live line, which comes back at once") {
  Fake fake;
  fake.columns = 120;
  Progress progress("mnist", 100, fake.console());
  progress.update(20, {});
  fake.take();
  progress.epoch_line({.epoch = 1,
                       .epochs = 5,
                       .loss = 0.25,
                       .accuracy = 0.9,
                       .validation_loss = 0.125,
                       .validation_accuracy = 0.95,
                       .images_per_second = 1234567,
                       .seconds = 9.84});
  CHECK(fake.take() ==
        kErase +
            "mnist  epoch 1/5  loss 0.2500  accuracy 0.9000  validation loss 0.1250  validation accuracy "
            "0.9500  1,234,567 images/s  9.8 s\n");
  progress.update(20, {});
  CHECK(fake.take() == kErase + "mnist  20 %");
  progress.note("checkpoint written");
  CHECK(fake.take() == kErase + "checkpoint written\n");
  progress.note("another");
  CHECK(fake.take() == "another\n");
  progress.finish();
  CHECK(fake.take().empty());
}

TEST_CASE("progress elsewhere is plain lines: one per epoch and at most one every 30 seconds") {
  Fake fake;
  {
    Progress progress("mnist", 1000, fake.console());
    for (int step = 0; step < 290; ++step, fake.seconds += 0.1) progress.update(step, fields(1));
    CHECK(fake.take().empty());
    progress.epoch_line({.epoch = 1, .epochs = 5, .loss = 0.5});
    CHECK(fake.take() == "mnist  epoch 1/5  loss 0.5000\n");
    for (int step = 290; step < 590; ++step, fake.seconds += 0.1)
      progress.update(step, {.epoch = 2, .epochs = 5});
    CHECK(fake.take().empty());
    progress.note("a note");
    CHECK(fake.take() == "a note\n");
    fake.seconds += 0.1;
    progress.update(591, {.epoch = 2, .epochs = 5});
    CHECK(fake.take() == "mnist  59 %  ETA 41 s  epoch 2/5\n");
    for (int step = 592; step < 890; ++step, fake.seconds += 0.1) progress.update(step, {});
    CHECK(fake.take().empty());
  }
  CHECK(fake.take().empty());
}

TEST_CASE("progress never throws, for any console and any numbers") {
  {
    Progress progress("mnist", 10, broken_console());
    progress.update(1, fields(1));
    progress.epoch_line({});
    progress.note("x");
    progress.finish();
  }
  Fake fake;
  fake.columns = 100;
  Progress odd("odd", 0, fake.console());
  odd.update(5, {.loss = HUGE_VAL, .images_per_second = HUGE_VAL});
  CHECK(fake.take() == kErase + "odd  loss not finite");
}
