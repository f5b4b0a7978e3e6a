// [log]: metrics.csv and TensorBoard's event files in the run folder.
#include "apps/place.hpp"
#include "convoke/data_prep/files/tfrecord.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace {

// Returns the event files of a folder, in the order in which TensorBoard reads them.
std::vector<fs::path> event_files(const fs::path& folder) {
  std::vector<fs::path> files = entries_in(folder);
  std::erase_if(files, [](const fs::path& file) { return !fs::is_regular_file(file); });
  return files;
}

// Counts the records of a file, with correct checksums, that name `tag`.
int points(const fs::path& file, const std::string& tag) {
  convoke::data_prep::TfRecordReader reader(convoke::archive::open_plain(file));
  int count = 0;
  for (convoke::data_prep::TfRecord record; reader.next(record);) {
    CHECK(record.whole);
    const std::string text(reinterpret_cast<const char*>(record.data.data()), record.data.size());
    if (text.find(tag) != std::string::npos) ++count;
  }
  return count;
}

int lines_of(const fs::path& file) { return times(bytes_of(file), "\n"); }

constexpr const char* kBoth = "--set log.tensorboard=true --set log.csv=true ";

}  // namespace

TEST_CASE(
    "the curves and test of a model are written for TensorBoard and as CSV; a resumed run appends to them") {
  const Place place;
  place.train("run", std::string(kBoth) + "--set train.schedule.name=constant", 2).ends(0);
  const std::vector<fs::path> files = event_files(place / "run/tensorboard");
  REQUIRE(files.size() == 2);  // training, test
  for (const char* tag : {"loss/train", "accuracy/train", "loss/validation", "accuracy/validation",
                          "learning_rate", "images_per_second"}) {
    CAPTURE(tag);
    CHECK(points(files[0], tag) == 3);  // epochs
  }
  CHECK(points(files[1], "accuracy/test") == 1);
  CHECK(lines_of(place / "run/metrics.csv") == 1 + 3);

  place.train("run", std::string(kBoth) + "--set train.schedule.name=constant --set train.epochs=5 --resume")
      .ends(0);
  const std::vector<fs::path> all = event_files(place / "run/tensorboard");
  REQUIRE(all.size() == 4);
  CHECK(points(all[2], "loss/train") == 2);
  CHECK(lines_of(place / "run/metrics.csv") == 1 + 5);
}

TEST_CASE("logged steps are in all logs and on the page, and watch follows the run as before") {
  const Place place;
  const Outcome run = place.train("run", std::string(kBoth) + "--set log.every_steps=2", 2).ends(0);
  CAPTURE(run.text);
  CHECK(times(bytes_of(place / "run/metrics.jsonl"), R"("event":"step")") == 6);  // of 3 x 4 steps
  const std::vector<fs::path> files = event_files(place / "run/tensorboard");
  REQUIRE(files.size() == 2);
  CHECK(points(files[0], "loss/step") == 6);
  CHECK(points(files[0], "loss/train") == 3);
  CHECK(lines_of(place / "run/metrics.csv") == 1 + 3 + 6);
  place.run("watch run --once").ends(0).shows("run: complete");
  if (fs::exists(place / "run/report.html"))
    CHECK(times(bytes_of(place / "run/report.html"), "<figcaption>Loss by step</figcaption>") == 1);
}

TEST_CASE("members have separate curves, and the vote has those of all") {
  const Place place;
  place.train("run", std::string(kBoth) + "--set train.mode=ensemble --set ensemble.members=3", 2).ends(0);
  for (const char* member : {"member-000", "member-001", "member-002"}) {
    CAPTURE(member);
    const std::vector<fs::path> files = event_files(place / "run/tensorboard" / member);
    REQUIRE(files.size() == 2);
    CHECK(points(files[0], "loss/train") == 3);
    CHECK(points(files[1], "accuracy/test") == 1);
  }
  const std::vector<fs::path> votes = event_files(place / "run/tensorboard");
  REQUIRE(votes.size() == 1);
  CHECK(points(votes[0], "accuracy/test_majority") == 1);
  CHECK(lines_of(place / "run/metrics.csv") == 1 + 3 * 3);
}
