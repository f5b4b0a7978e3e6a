// What goes wrong in a job of several ranks: ranks that were started differently, and machines that lack
// something.
#include "apps/place.hpp"
#include "support/catch.hpp"

namespace {

/// Runs `train` on two ranks with own variables and options each.
Outcome train(const Place& place, const std::string& of_rank_0, const std::string& of_rank_1) {
  const std::string begin = " train recipe.toml --quiet --output run ";
  const auto one = [&](const std::string& options) { return "-n 1 " + options; };
  const auto program = [&](const std::string& own) {
    const std::size_t bar = own.find('|');
    return one("env " + own.substr(0, bar) + " " + binary() + begin + own.substr(bar + 1));
  };
  return shell("cd " + place.folder.path().string() +
               " && timeout 60 mpirun --oversubscribe --bind-to none " + program(of_rank_0) + " : " +
               program(of_rank_1));
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
    const Outcome outcome = place.run("train recipe.toml --quiet --output " + output + after, before);
    CAPTURE(outcome.text);
    CHECK(outcome.code == 0);
    CHECK(bytes_of(place / output / "model.h5") == bytes_of(place / "alone/model.h5"));
    return outcome;
  };
  const std::string full = "unshare --mount sh -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && ";
  if (shell(full + "true'").code == 0) {
    const std::string fill = "{ head -c 64K /dev/zero > /dev/shm/full; ";
    const Outcome outcome = train_in("full", full + fill + mpirun(2), "; }'");
    CHECK(outcome.says("warning: "));
  }
  const std::string less = "setpriv --bounding-set=-sys_ptrace,-net_raw ";
  if (shell(less + "true").code == 0) train_in("apart", mpirun(2) + " " + less, "");
}
