#include "convoke/metrics/console.hpp"

#include "support/catch.hpp"

using namespace convoke::metrics;

namespace {

struct Screen {
  std::string written;
  int columns = 80;
  Console console() {
    return {.write = [this](std::string_view text) { written += text; },
            .now = [] { return 0.0; },
            .width = [this] { return columns; }};
  }
};

}  // namespace

TEST_CASE("lines replace the previous ones, and permanent lines are written above them") {
  Screen screen;
  LiveBlock block(screen.console());
  block.draw({"one", "two"});
  CHECK(screen.written == "one\ntwo\n");
  screen.written.clear();
  block.draw({"three"});
  CHECK(screen.written == "\x1b[2A\r\x1b[Jthree\n");
  screen.written.clear();
  block.note("a run has ended");
  CHECK(screen.written == "\x1b[1A\r\x1b[Ja run has ended\n");
  screen.written.clear();
  block.clear();
  CHECK(screen.written.empty());
}

TEST_CASE("lines are cut to the terminal's width, in characters") {
  Screen screen;
  screen.columns = 4;
  LiveBlock block(screen.console());
  block.draw({"ÄÖÜabc"});
  CHECK(screen.written == "ÄÖÜ\n");
}

TEST_CASE("without a terminal only permanent lines are written, and a broken one causes no error") {
  Screen screen;
  screen.columns = 0;
  LiveBlock block(screen.console());
  CHECK_FALSE(block.is_live());
  block.draw({"one"});
  block.note("two");
  CHECK(screen.written == "two\n");

  LiveBlock broken(Console{.write = [](std::string_view) { throw std::runtime_error("gone"); },
                           .now = [] { return 0.0; },
                           .width = [] { return 80; }});
  broken.draw({"one"});
  broken.note("two");
}
