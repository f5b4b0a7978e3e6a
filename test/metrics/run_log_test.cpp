#include "convoke/metrics/run_log.hpp"

#include <unistd.h>

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using convoke::metrics::RunLog;

namespace {

// A file with a name that only this process uses; the file is removed at the end.
class TemporaryFile {
 public:
  TemporaryFile()
      : path(fs::temp_directory_path() / ("convoke-run-log-" + std::to_string(getpid()) + ".jsonl")) {
    fs::remove(path);
  }
  ~TemporaryFile() { fs::remove(path); }
  std::string text() const { return bytes_of(path); }
  const fs::path path;
};

}  // namespace

TEST_CASE("a run log has one JSON object per line, written at once") {
  const TemporaryFile file;
  RunLog log(file.path);
  CHECK(file.text().empty());
  log.append({{"epoch", 1}, {"loss", 0.25}});
  CHECK(file.text() == "{\"epoch\":1,\"loss\":0.25}\n");
  log.append({{"epoch", 2}, {"note", "two\nlines"}});
  CHECK(file.text() == "{\"epoch\":1,\"loss\":0.25}\n{\"epoch\":2,\"note\":\"two\\nlines\"}\n");
}

TEST_CASE("a run log is continued, without an unfinished last line") {
  for (const std::string before : {"{\"epoch\":1}\n", "{\"epoch\":1}\n{\"epo"}) {
    const TemporaryFile file;
    std::ofstream(file.path) << before;
    RunLog(file.path).append({{"epoch", 2}});
    CHECK(file.text() == "{\"epoch\":1}\n{\"epoch\":2}\n");
  }
  const TemporaryFile file;
  std::ofstream(file.path) << "{\"epo";
  RunLog(file.path).append({{"epoch", 1}});
  CHECK(file.text() == "{\"epoch\":1}\n");
}

TEST_CASE("a run log that cannot be opened is refused with its name") {
  const TemporaryFile none;  // does not exist
  const fs::path path = none.path / "metrics.jsonl";
  try {
    RunLog log(path);
    FAIL();
  } catch (const Error& e) {
    CHECK(std::string(e.what()) == "cannot write " + path.string() + ": No such file or directory");
    CHECK_FALSE(e.hint().empty());
  }
}

TEST_CASE("a full disk is reported with the name of the run log") {
  RunLog log("/dev/full");
  try {
    log.append({{"epoch", 1}});
    FAIL();
  } catch (const Error& e) {
    CHECK(std::string(e.what()) == "cannot write /dev/full: No space left on device");
    CHECK(e.hint() == "free some space, or write to another --output");
  }
}
