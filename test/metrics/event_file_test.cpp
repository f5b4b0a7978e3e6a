#include "convoke/metrics/event_file.hpp"

#include "convoke/core/tfrecord.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"
#include "support/text.hpp"

using namespace convoke;
using namespace convoke::metrics;

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
