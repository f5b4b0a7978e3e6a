#include "convoke/metrics/run_log.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;
using convoke::metrics::RunLog;

TEST_CASE("a run log has one JSON object per line, written at once") {
  const TemporaryFolder folder;
  const fs::path file = folder / "metrics.jsonl";
  RunLog log(file);
  CHECK(bytes_of(file).empty());
  log.append({{"epoch", 1}, {"loss", 0.25}});
  CHECK(bytes_of(file) == "{\"epoch\":1,\"loss\":0.25}\n");
  log.append({{"epoch", 2}, {"note", "two\nlines"}});
  CHECK(bytes_of(file) == "{\"epoch\":1,\"loss\":0.25}\n{\"epoch\":2,\"note\":\"two\\nlines\"}\n");
}

TEST_CASE("a run log is continued, without an unfinished last line") {
  const TemporaryFolder folder;
  const fs::path file = folder / "metrics.jsonl";
  for (const std::string before : {"{\"epoch\":1}\n", "{\"epoch\":1}\n{\"epo"}) {
    write_file(file, before);
    RunLog(file).append({{"epoch", 2}});
    CHECK(bytes_of(file) == "{\"epoch\":1}\n{\"epoch\":2}\n");
  }
  write_file(file, "{\"epo");
  RunLog(file).append({{"epoch", 1}});
  CHECK(bytes_of(file) == "{\"epoch\":1}\n");
}

TEST_CASE("a run log that cannot be opened is refused with its name") {
  const TemporaryFolder folder;
  const fs::path path = folder / "none/metrics.jsonl";
  const auto open = [&] { RunLog log(path); };
  CHECK(error_of(open) == "cannot write " + path.string() + ": No such file or directory");
  CHECK_FALSE(hint_of(open).empty());
}

TEST_CASE("a full disk is reported with the name of the run log") {
  RunLog log("/dev/full");
  CHECK(refusal_of([&] {
          log.append({{"epoch", 1}});
        }) ==
        "cannot write /dev/full: No space left on device | free some space, or write to another --output");
}
