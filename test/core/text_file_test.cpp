#include "convoke/core/text.hpp"

#include <sys/stat.h>

#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;

TEST_CASE("a file is read byte by byte; a missing file gives none") {
  const TemporaryFolder folder;
  const std::string text("a\r\n\0b\xff", 6);
  std::ofstream(folder / "file", std::ios::binary) << text;
  CHECK(read_text(folder / "file") == text);
  std::ofstream(folder / "empty").close();
  CHECK(read_text(folder / "empty") == "");
  CHECK_FALSE(read_text(folder / "none"));
  CHECK_FALSE(read_text(folder.path()));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);  // nobody writes to it
  CHECK_THROWS_WITH(read_text(folder / "pipe"), Contains("pipe: is a named pipe (FIFO), not a file"));
}
