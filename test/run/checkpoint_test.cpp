#include "convoke/run/checkpoint.hpp"

#include "convoke/hdf5/file.hpp"
#include "convoke/run/model_file.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/tiny.hpp"

using convoke::run::Checkpoints;
using convoke::run::CheckpointState;
using convoke::run::Fingerprint;
using fs::path;

namespace {

const Fingerprint kFingerprint{{"seed", "3"}, {"train.batch", "32"}};

Checkpoints in(const path& folder, Fingerprint fingerprint = kFingerprint, std::int64_t kept = 2) {
  return {folder, convoke::engine::canonical_parameters(tiny::graph()), std::move(fingerprint),
          "name = \"tiny\"\n", kept};
}

CheckpointState state_at(std::int64_t epochs, std::int64_t steps = 0) {
  CheckpointState state;
  state.epochs_done = epochs;
  state.steps_done = steps;
  state.updates = epochs * 100 + steps;
  state.best_validation_accuracy = 0.75;
  state.validation_accuracy = 0.7;
  state.loss_sum = 12.345678901234567;
  state.correct_sum = 17;
  state.parameters = tiny::parameters(static_cast<std::uint64_t>(epochs));
  state.optimizer = {tiny::parameters(100), tiny::parameters(101)};
  return state;
}

void check_equal(const CheckpointState& a, const CheckpointState& b) {
  CHECK(a.epochs_done == b.epochs_done);
  CHECK(a.steps_done == b.steps_done);
  CHECK(a.updates == b.updates);
  CHECK(a.best_validation_accuracy == b.best_validation_accuracy);
  CHECK(a.validation_accuracy == b.validation_accuracy);
  CHECK(a.loss_sum == b.loss_sum);
  CHECK(a.correct_sum == b.correct_sum);
  CHECK(a.parameters == b.parameters);
  CHECK(a.optimizer == b.optimizer);
  CHECK(a.average == b.average);
  CHECK(a.feedback == b.feedback);
  CHECK(a.best.evaluations == b.best.evaluations);
  CHECK(a.best.wait == b.best.wait);
  CHECK(a.best.updates == b.best.updates);
  CHECK(a.best.stopped == b.best.stopped);
  CHECK(a.best.parameters == b.best.parameters);
  if (a.best.evaluations == 0) return;
  CHECK(a.best.loss == b.best.loss);
  CHECK(a.best.accuracy == b.best.accuracy);
}

struct Newest {
  std::optional<CheckpointState> state;
  std::vector<std::string> notes;
};
Newest newest(const Checkpoints& checkpoints) {
  Newest result;
  result.state = checkpoints.newest([&](const std::string& note) { result.notes.push_back(note); });
  return result;
}

void no_note(const std::string&) {}

}  // namespace

TEST_CASE("a checkpoint stores the whole state") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints = in(folder / "new/checkpoints");
  CHECK_FALSE(newest(checkpoints).state);
  checkpoints.make_folder();
  const auto check_stored = [&](const CheckpointState& state) {
    checkpoints.save(state);
    check_equal(newest(checkpoints).state.value(), state);
    check_equal(checkpoints.from_bytes(checkpoints.newest_bytes(no_note)), state);
  };
  check_stored(state_at(3));

  CheckpointState averaged = state_at(4);
  averaged.average = tiny::parameters(102);
  averaged.feedback = {.factor = 0.01, .best = 0.3, .wait = 2, .cooldown = 1};
  check_stored(averaged);

  CheckpointState validated = state_at(5);
  validated.best = {.evaluations = 7,
                    .wait = 2,
                    .updates = 345,
                    .loss = 0.123456789012345678,
                    .accuracy = 0.875,
                    .stopped = true,
                    .parameters = tiny::parameters(103)};
  check_stored(validated);
  validated.epochs_done = 6;  // the best will not be restored
  validated.best.parameters.clear();
  check_stored(validated);

  CheckpointState without_validation = state_at(7);
  without_validation.validation_accuracy = std::nan("");
  checkpoints.save(without_validation);
  CHECK(std::isnan(newest(checkpoints).state.value().validation_accuracy));
}

TEST_CASE("the newest two are kept, an interrupted epoch between its neighbors") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints = in(folder.path());
  for (const std::int64_t epoch : {9998, 9999, 10000}) checkpoints.save(state_at(epoch));
  CHECK_FALSE(exists(folder / "epoch-9998.h5"));
  CHECK(exists(folder / "epoch-9999.h5"));
  CHECK(newest(checkpoints).state->epochs_done == 10000);
  checkpoints.save(state_at(10000, 12));
  CHECK(exists(folder / "epoch-10000-step-000012.h5"));
  CHECK(newest(checkpoints).state->steps_done == 12);
  checkpoints.save(state_at(10001));
  CHECK(newest(checkpoints).state->epochs_done == 10001);
  CHECK_FALSE(exists(folder / "epoch-10000.h5"));
}

TEST_CASE("an unusable checkpoint is reported, and the one before it is used") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints = in(folder.path());
  checkpoints.save(state_at(1));
  checkpoints.save(state_at(2));
  const path last = folder / "epoch-0002.h5";
  std::string bytes = bytes_of(last);
  std::string reason;

  SECTION("truncated") {
    bytes.resize(bytes.size() / 2);
    reason = "truncated";
  }
  SECTION("empty") {
    bytes.clear();
    reason = "epoch-0002.h5";
  }
  SECTION("text") {
    bytes = "not HDF5 at all";
    reason = "not";
  }
  SECTION("a value changed") {
    // The values of a parameter, somewhere in the file.
    const float value = state_at(2).parameters[5];
    const std::string pattern(reinterpret_cast<const char*>(&value), sizeof value);
    const std::size_t at = bytes.find(pattern);
    REQUIRE(at != std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    reason = "checksum";
  }
  write_file(last, bytes);

  const Newest found = newest(checkpoints);
  REQUIRE(found.state);
  check_equal(*found.state, state_at(1));
  REQUIRE(found.notes.size() == 1);
  INFO(found.notes[0]);
  CHECK(found.notes[0].find(last.string()) != std::string::npos);
  CHECK_THAT(found.notes[0], Contains(reason));

  // The run does not begin again because a disk fails.
  write_file(folder / "epoch-0001.h5", bytes);
  CHECK_THAT(error_of([&] { newest(checkpoints); }), Contains("no checkpoint can be read"));
}

TEST_CASE("HDF5 files of other programs are skipped too") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints = in(folder.path());
  checkpoints.save(state_at(1));
  {
    convoke::hdf5::File other = convoke::hdf5::File::create(folder / "epoch-0002.h5");
    other.set_attribute("title", "weather");
    other.close();
  }
  const Newest found = newest(checkpoints);
  CHECK(found.state->epochs_done == 1);
  REQUIRE(found.notes.size() == 1);
  CHECK_THAT(found.notes[0], Contains("not from Convoke"));
}

TEST_CASE("a different resume fingerprint is refused, naming the keys") {
  const TemporaryFolder folder;
  in(folder.path()).save(state_at(1));
  const std::string why = error_of([&] {
    newest(in(folder.path(), {{"seed", "3"}, {"train.batch", "64"}, {"train.micro_batch", "8"}}));
  });
  INFO(why);
  CHECK_THAT(why, Contains("epoch-0001.h5"));
  CHECK_THAT(why, Contains("train.batch: 32 in the checkpoint, 64 now"));
  CHECK_THAT(why, Contains("train.micro_batch: absent in the checkpoint, 8 now"));
  CHECK_THAT(why, !Contains("seed"));
}

TEST_CASE("the newest readable checkpoint decides whether a run can be resumed") {
  const TemporaryFolder folder;
  const Checkpoints other = in(folder.path(), {{"seed", "4"}});
  CHECK_NOTHROW(other.require_resumable());  // there is none
  in(folder.path()).save(state_at(1));
  CHECK_NOTHROW(in(folder.path()).require_resumable());
  CHECK_THAT(error_of([&] { other.require_resumable(); }), Contains("seed: 3 in the checkpoint, 4 now"));
  in(folder.path()).save(state_at(2));
  fs::resize_file(folder / "epoch-0002.h5", 1000);
  CHECK_THAT(error_of([&] { other.require_resumable(); }), Contains("epoch-0001.h5"));
  CHECK_NOTHROW(in(folder.path()).require_resumable());
}

TEST_CASE("the requested number of checkpoints is kept, and models do not count") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints = in(folder.path(), kFingerprint, 3);
  convoke::run::write_model(folder / "best.h5", tiny::description(), tiny::parameters(1));
  for (const std::int64_t epoch : {1, 2, 3, 4}) checkpoints.save(state_at(epoch));
  CHECK_FALSE(exists(folder / "epoch-0001.h5"));
  CHECK(exists(folder / "epoch-0002.h5"));
  CHECK(entries_in(folder.path()).size() == 4);
  CHECK(newest(checkpoints).state->epochs_done == 4);
}

TEST_CASE("checkpoints after a damaged one replace it, also if only one is kept") {
  const TemporaryFolder folder;
  for (const std::int64_t epoch : {20, 40}) in(folder.path()).save(state_at(epoch));
  fs::resize_file(folder / "epoch-0040.h5", 1000);
  const Checkpoints one = in(folder.path(), kFingerprint, 1);
  one.save(state_at(21));
  CHECK(entries_in(folder.path()) == std::vector{folder / "epoch-0021.h5"});
}

TEST_CASE("the fallback folder of a run does not depend on symbolic links in its path") {
  const TemporaryFolder folder;
  fs::create_directory_symlink(".", folder / "link");
  const auto fallback = [](const path& run) {
    return convoke::run::fallback_of("/spare", run, run / "checkpoints").string();
  };
  CHECK(fallback(folder / "link/run") == fallback(folder / "run"));
  CHECK_THAT(fallback(folder / "run"), EndsWith("/checkpoints"));
}

TEST_CASE("on a full disk the earlier checkpoint stays, and the error names the file") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints = in(folder.path());
  checkpoints.save(state_at(1));
  {
    const FileSizeLimit full(4096);
    const std::string why = error_of([&] { checkpoints.save(state_at(2)); });
    INFO(why);
    CHECK(why.find((folder / "epoch-0002.h5").string()) == 0);
  }
  CHECK_FALSE(exists(folder / "epoch-0002.h5"));
  CHECK(entries_in(folder.path()).size() == 1);
  check_equal(newest(checkpoints).state.value(), state_at(1));
  checkpoints.save(state_at(2));  // with free space again
  check_equal(newest(checkpoints).state.value(), state_at(2));
}

TEST_CASE("if the folder cannot be created, the error names it") {
  const TemporaryFolder folder;
  write_file(folder / "file", "in the way");
  const std::string expected =
      (folder / "file/checkpoints").string() + ": cannot be created: Not a directory";
  const Checkpoints checkpoints = in(folder / "file/checkpoints");
  CHECK(error_of([&] { checkpoints.make_folder(); }) == expected);
  CHECK_FALSE(error_of([&] { checkpoints.save(state_at(1)); }).empty());
  CHECK(bytes_of(folder / "file") == "in the way");
}
