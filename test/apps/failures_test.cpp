// What goes wrong in a job of several ranks: ranks that were started differently, and machines that lack
// something.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

namespace {

/// Runs `train` on two ranks with own variables and options each.
Outcome train(const Place& place, const std::string& of_rank_0, const std::string& of_rank_1) {
  const auto program = [](const std::string& own) {
    const std::size_t bar = own.find('|');
    return "exec env " + own.substr(0, bar) + " " + binary() + " train recipe.toml --quiet --output run " +
           own.substr(bar + 1);
  };
  return place.run_by_rank(program(of_rank_0), program(of_rank_1));
}

void check_refused(const Outcome& outcome, const std::string& difference) {
  CAPTURE(outcome.text, difference);
  CHECK(outcome.code == code_under_mpirun(1));
  CHECK(outcome.times("error: ") == 1);
  CHECK(outcome.times(difference) == 1);
}

}  // namespace

TEST_CASE("ranks with other recipes, datasets or instruction sets are refused, and the difference is named") {
  const Place place;
  check_refused(train(place, "|", "|--set train.batch=64"),
                "error: train.batch differs: 64 on rank 1 (host ");

  // The same path is another file for rank 1.
  write_dataset(place / "other.h5", 120);
  const std::string apart = "unshare --mount sh -c 'mount --bind other.h5 data.h5 && exec \"$@\"' sh ";
  if (shell("unshare --mount true").code == 0) {
    const Outcome outcome = train(place, "|", apart + "|");
    check_refused(outcome, "error: the content of the dataset differs: ");
  }

  const Outcome arithmetic = train(place, "|", "ONEDNN_MAX_CPU_ISA=SSE41 DNNL_MAX_CPU_ISA=SSE41|");
  check_refused(arithmetic, "error: oneDNN's instruction set differs: \"sse41\" on rank 1 (host ");
}

TEST_CASE("without room in /dev/shm, and without reading each other's memory, ranks train the same model") {
  const Place place;
  REQUIRE(place.train("alone").code == 0);
  const auto train_in = [&](const std::string& output, const std::string& before, const std::string& after) {
    const Outcome outcome = place.run("train recipe.toml --quiet --output " + output + after, before).ends(0);
    CHECK(bytes_of(place / output / "model.h5") == bytes_of(place / "alone/model.h5"));
    return outcome;
  };
  const std::string full = "unshare --mount sh -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && ";
  if (shell(full + "true'").code == 0) {
    const std::string fill = "{ head -c 64K /dev/zero > /dev/shm/full; ";
    train_in("full", full + fill + mpirun(2), "; }'").shows("warning: ");
  }
  const std::string less = "setpriv --bounding-set=-sys_ptrace,-net_raw ";
  if (shell(less + "true").code == 0) train_in("apart", mpirun(2) + " " + less, "");
}

TEST_CASE("a model that is larger than /dev/shm trains, and also if each rank is in its own container") {
  const Place place;
  const std::string last = "  { layer = \"dense\", units = 4,";
  place.replace("recipe.toml", last,  // two ranks share 22 MiB, with the wider blocks of AVX-512 45 MiB
                "  { layer = \"dense\", units = 8192, activation = \"relu\" },\n" + last);
  REQUIRE(place.train("alone", "--set train.epochs=1").code == 0);
  const auto train_in = [&](const std::string& output, const std::string& size,
                            const std::string& container) {
    const Outcome outcome =
        place
            .run("train recipe.toml --quiet --set train.epochs=1 --output " + output + "'",
                 "unshare --mount sh -c 'mount -t tmpfs -o size=" + size + " tmpfs /dev/shm && " + mpirun(2) +
                     " " + container)
            .ends(0);
    CHECK(bytes_of(place / output / "model.h5") == bytes_of(place / "alone/model.h5"));
    return outcome;
  };
  if (shell("unshare --mount sh -c 'mount -t tmpfs tmpfs /dev/shm'").code != 0)
    return skip("needs root to mount another /dev/shm");
  for (const char* size : {"16m", "64m"}) CHECK_FALSE(train_in(size, size, "").says("own copy"));

  // In user namespaces of their own, the ranks may not open each other's files in /proc.
  const std::string container = "unshare --user --map-root-user";
  if (shell(container + " true").code != 0) return skip("needs user namespaces");
  CHECK_FALSE(train_in("apart", "200m", container).says("own copy"));
  const Outcome copies = train_in("copies", "16m", container);
  copies.once("each rank keeps its own copy of the model").shows("No space left on device");
  CHECK((copies.says(" cannot share 2") || copies.says(" cannot share 45.3 MiB")));
}

TEST_CASE("ranks that predict read a part of the samples each, and give the labels of one rank") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  constexpr std::int64_t kBytes = 30'000 * 64;
  write_dataset(place / "many.h5", 10, 8, 4, kBytes / 64);
  // What a shell's processes have read counts as its own when they have ended.
  const auto read_by_each = [&](const std::string& data) {
    const Outcome outcome =
        place.run("predict run " + data + " --output " + data + ".npy; grep rchar /proc/$$/io'",
                  mpirun(2) + " sh -c '");
    CAPTURE(outcome.text);
    std::vector<std::int64_t> bytes;
    std::istringstream lines(outcome.text);
    std::int64_t count = 0;
    for (std::string word; lines >> word >> count;) bytes.push_back(count);
    REQUIRE(bytes.size() == 2);
    return bytes;
  };
  const auto few = read_by_each("data.h5"), many = read_by_each("many.h5");
  for (const std::size_t rank : {0, 1}) CHECK(many[rank] - few[rank] < 7 * kBytes / 10);
  REQUIRE(place.run("predict run many.h5 --output alone.npy").code == 0);
  CHECK(bytes_of(place / "many.h5.npy") == bytes_of(place / "alone.npy"));
}
