#include "convoke/metrics/run_log.hpp"

#include "convoke/core/checksum.hpp"
#include "convoke/core/lookup.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"
#include "support/text.hpp"

using namespace convoke;
using namespace convoke::metrics;

namespace {

const std::string kHeader =
    "event,member,epoch,step,loss,accuracy,validation_loss,validation_accuracy,learning_rate,images_per_second,seconds\n";

}  // namespace

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

TEST_CASE("metrics.csv has a line for each record with a loss, and empty cells for missing values") {
  const TemporaryFolder place;
  CsvLog log(place / "metrics.csv");
  log.append({{"event", "epoch"},
              {"member", 0},
              {"epoch", 1},
              {"epochs", 5},
              {"step", 12},
              {"loss", 0.5},
              {"accuracy", 0.25}});
  log.append({{"event", "validation"}, {"member", 1}, {"step", 20}, {"validation_loss", 1e-7}});
  log.append({{"event", "evaluation"}, {"disagreement", 0.5}});
  CHECK(bytes_of(place / "metrics.csv") ==
        kHeader + "epoch,0,1,12,0.5,0.25,,,,,\nvalidation,1,,20,,,1e-07,,,,\n");
}

TEST_CASE("metrics.csv is continued after an interrupted run") {
  const TemporaryFolder place;
  const auto file = place / "metrics.csv";
  std::ofstream(file) << kHeader << "epoch,0,1,12,0.5,0.25,,,,,\nepoch,0,2,24,0.";
  CsvLog(file).append({{"event", "epoch"}, {"loss", 0.25}});
  CHECK(bytes_of(file) == kHeader + "epoch,0,1,12,0.5,0.25,,,,,\nepoch,,,,0.25,,,,,,\n");
}

TEST_CASE("lines of metrics.csv are removed by member and step, and it grows on") {
  const TemporaryFolder place;
  const auto file = place / "metrics.csv";
  const std::string first = "epoch,0,1,12,0.5,0.25,,,,,\n", other = "validation,1,2,24,,,0.5,,,,\n";
  std::ofstream(file) << kHeader << first << "epoch,0,2,24,0.5,0.25,,,,,\n" << other;
  CsvLog log(file);
  log.remove_if([](const Settings& line) {
    return count_at(line, "member") == 0 && count_at(line, "step").value_or(0) > 12;
  });
  log.append({{"event", "epoch"}, {"loss", 0.25}});
  CHECK(bytes_of(file) == kHeader + first + other + "epoch,,,,0.25,,,,,,\n");
}

TEST_CASE("metrics.csv with other columns is refused and not changed") {
  const TemporaryFolder place;
  const auto file = place / "metrics.csv";
  std::ofstream(file) << "a,b\n1,2\n";
  CHECK_THAT(error_of([&] { CsvLog log(file); }), Contains("metrics.csv: its columns are not"));
  CHECK(bytes_of(file) == "a,b\n1,2\n");
}

// TensorBoard writes the same events in files/make_events.py.
TEST_CASE("events equal those of TensorBoard's writer byte for byte") {
  const std::vector<Scalar> three{{"loss/train", 0.125}, {"accuracy/train", 0.0}, {"é", -1e-7}};
  const std::vector<Scalar> odd{{"long/" + std::string(200, 'x'), NAN}};
  const std::string ours = tfrecord(version_event(1700000000.25)) + tfrecord(start_event(1700000001.5, 301)) +
                           tfrecord(scalars_event(1700000002.75, 600, three)) +
                           tfrecord(scalars_event(1700000003.0, std::int64_t{1} << 40, odd));
  const std::string golden = bytes_of(source_path("test/metrics/files/events.tfevents"));
  CHECK(ours.size() == golden.size());
  CHECK(ours == golden);
}

TEST_CASE("every event file is new, with the time in its name; a resumed one says so") {
  const TemporaryFolder place;
  const fs::path folder = place / "tensorboard/member-000";
  EventFile first(folder);
  EventFile resumed(folder, 300);
  const std::vector<fs::path> files = entries_in(folder);
  REQUIRE(files.size() == 2);
  CHECK(files[0].filename().string().starts_with("events.out.tfevents."));
  const std::string before = bytes_of(files[0]);
  CHECK(bytes_of(files[1]).size() == before.size() + tfrecord(start_event(1.0, 301)).size());
  resumed.append(600, std::vector<Scalar>{{"loss/train", 0.5}});
  CHECK_THAT(bytes_of(files[1]), Contains("loss/train"));  // written at once
  CHECK(bytes_of(files[0]) == before);
}

TEST_CASE("an event file that cannot be written is an Error that names it") {
  const TemporaryFolder place;
  std::ofstream(place / "file") << "a file instead of a folder";
  CHECK_THAT(error_of([&] { EventFile(place / "file"); }), Contains((place / "file").string()));
}
