// Disks that fail while a run writes its checkpoints: a full one, and one that is read-only. They are mounts
// in a namespace of their own, so the tests need root.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

namespace {

/// Runs commands in the place with mounts of their own.
Outcome with_mounts(const Place& place, const std::string& commands) {
  write_file(place / "commands", "cd " + place.folder.path().string() + "\n" + commands);
  return shell("unshare -m sh -e " + (place / "commands").string());
}

bool can_mount() { return shell("unshare -m mount -t tmpfs none /tmp").code == 0; }

std::string train(const std::string& more) {
  return binary() + " train recipe.toml --output run --resume --set run.keep_best=false " + more + "\n";
}

constexpr const char* kFull = "mkdir -p run/checkpoints\nmount -t tmpfs -o size=8k none run/checkpoints\n";
constexpr const char* kReadOnly =
    "mount --bind run/checkpoints run/checkpoints\nmount -o remount,ro,bind run/checkpoints\n";

std::string whole_run(const Place& place, int epochs) {
  const std::string output = "whole-" + std::to_string(epochs);
  REQUIRE(place.train(output, "--set train.epochs=" + std::to_string(epochs)).code == 0);
  return bytes_of(place / (output + "/model.h5"));
}

}  // namespace

TEST_CASE("a full disk does not end training: it is said once, and checkpoints go to the fallback folder") {
  if (!can_mount()) return skip("needs mount namespaces");
  const Place place;
  const std::string spare = fs::weakly_canonical(place / "spare").string();
  with_mounts(place, kFull + train("--set run.checkpoint_fallback=spare"))
      .ends(0)
      .once("training goes on, and checkpoints go to " + spare + "/run-")
      .shows("run/checkpoints/epoch-0001.h5: cannot be written")
      .shows("3 checkpoints could not be written into the run folder; 3 went to " + spare)
      .shows("newest checkpoint: " + spare + "/run-");
  CHECK(bytes_of(place / "run/model.h5") == whole_run(place, 3));

  // The run continues from there when the disk is well again, also by another path of the run in another
  // folder, and leaves nothing in the fallback folder.
  place
      .commands("ln -s run link && mkdir elsewhere && cd elsewhere && " + binary() +
                " train --resume ../link --set train.epochs=5")
      .ends(0)
      .shows("resumed after 3 epochs");
  CHECK(fs::exists(place / "run/checkpoints/epoch-0005.h5"));
  int left = 0;
  for (const auto& entry : fs::recursive_directory_iterator(place / "spare")) left += entry.is_regular_file();
  CHECK(left == 0);
  CHECK(bytes_of(place / "run/model.h5") == whole_run(place, 5));
}

TEST_CASE("without a fallback folder, checkpoints on a full disk are left out, and one warning says so") {
  if (!can_mount()) return skip("needs mount namespaces");
  const Place place;
  with_mounts(place, kFull + train("--set train.epochs=6"))
      .ends(0)
      .once("training goes on")
      .shows(" left out")
      .shows("newest checkpoint: none");
  const Place other;  // one for the checkpoints, one for the best models
  const Outcome best = with_mounts(
      other, kFull + train("--set train.epochs=6 --set data.validation_split=0.2 --set run.keep_best=true"));
  CHECK(best.ends(0).times("training goes on") == 2);
}

TEST_CASE("a limit of the size of files (ulimit -f) is like a full disk") {
  const Place place;  // 20 KiB: more than the model, less than a checkpoint
  place.run("train recipe.toml --quiet --output run --set run.keep_best=false", "ulimit -f 40;")
      .ends(0)
      .once("run/checkpoints/epoch-0001.h5: cannot be written")
      .shows("training goes on")
      .shows("newest checkpoint: none");
}

TEST_CASE(
    "a folder that became read-only keeps its checkpoints, and the newer ones are in the fallback folder") {
  if (!can_mount()) return skip("needs mount namespaces");
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const std::string before = bytes_of(place / "run/checkpoints/epoch-0001.h5");
  with_mounts(place, kReadOnly + train("--set run.checkpoint_fallback=spare"))
      .ends(0)
      .shows("resumed after 1 epochs")
      .once("Read-only file system");
  CHECK(bytes_of(place / "run/checkpoints/epoch-0001.h5") == before);
  CHECK(bytes_of(place / "run/model.h5") == whole_run(place, 3));
}

TEST_CASE("lines that a full disk does not take are in metrics.jsonl as soon as there is space") {
  if (!can_mount()) return skip("needs mount namespaces");
  const Place place;
  with_mounts(
      place,
      "mkdir run\nmount -t tmpfs -o size=4m none run\n" + binary() +
          " train recipe.toml --output run --resume --quiet --set train.epochs=150 > log 2>&1 &\n"
          "pid=$!\nuntil [ -s run/metrics.jsonl ]; do sleep 0.02; done\ncat /dev/zero > run/filler || true\n"
          "until grep -q 'lines of metrics.jsonl are written later' log || ! kill -0 $pid; do sleep 0.02; "
          "done\n"
          "rm run/filler\nwait $pid || echo code $?\ncat log\ncp run/metrics.jsonl lines\n")
      .ends(0)
      .never("\ncode ")
      .once("cannot write run/metrics.jsonl: No space left on device; training goes on");
  CHECK(times(bytes_of(place / "lines"), "\"event\":\"epoch\"") == 150);
}
