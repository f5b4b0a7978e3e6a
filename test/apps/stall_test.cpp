// A rank that hangs: the job ends by itself, names the rank, and leaves no process behind.
#include "apps/place.hpp"
#include "support/catch.hpp"

namespace {

// Trains on ranks, stops rank $1 of them (SIGSTOP) while it trains, and waits for the end of the job. The
// other arguments are the launcher with its options, up to the program.
constexpr const char* kScript = R"sh(
stopped=$1; shift
rm -rf run pid-*
timeout 100 "$@" train recipe.toml --quiet --output run --set train.epochs=1000000 \
  --set run.stall_timeout=2 --set run.checkpoint_every=0 &
job=$!
until grep -qs '"step":[1-9]' run/.heartbeats/rank-$stopped; do
  kill -0 $job || exit 99
  sleep 0.1
done
kill -STOP $(cat pid-$stopped)
wait $job
code=$?
for file in pid-*; do  # a process that has ended may stay a while as a zombie
  for try in $(seq 100); do
    grep -qs '^State:.[^ZX]' /proc/$(cat $file)/status || continue 2
    sleep 0.1
  done
  echo "left: $file"
done
exit $code
)sh";

// Each rank writes its process number first.
constexpr const char* kRank = R"sh(
echo $$ > pid-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
exec "$CONVOKE_BINARY" "$@"
)sh";

Outcome train_and_stop(const Place& place, int ranks, int stopped) {
  write_file(place / "job", kScript);
  write_file(place / "rank", kRank);
  return place.commands("sh job " + std::to_string(stopped) + " " + mpirun(ranks) + " sh rank");
}

}  // namespace

TEST_CASE("a stopped rank is named with host, step and phase, and the job ends with code 87") {
  const Place place;
  for (const auto& [ranks, stopped] : {std::pair(2, 0), std::pair(3, 1)}) {
    CAPTURE(ranks, stopped);
    const Outcome outcome = train_and_stop(place, ranks, stopped).ends(code_under_mpirun(87));
    CAPTURE(outcome.text);
    const std::string name = "rank " + std::to_string(stopped);
    CHECK(outcome.times("error: ") == 1);
    CHECK(outcome.times("error: the job stands still: " + name + " has given no sign of life for ") == 1);
    CHECK(outcome.times("no sign of life") == 2);  // the first line, and the row of the rank
    CHECK(outcome.times(" waits ") >= ranks - 1);
    CHECK(outcome.says(" is here:\n"));
    CHECK(outcome.says("libmpi") + outcome.says("convoke: ") > 0);
    CHECK(outcome.says("convoke train --resume RUN"));
    CHECK_FALSE(outcome.says("left: "));

    // The heartbeats of the end stay, so that `convoke watch` shows them.
    place.run("watch run --once").shows("  ranks        rank  host");
  }
}

TEST_CASE("a rank that needs longer for a checkpoint than run.stall_timeout ends nothing") {
  const Place place;
  place.train("slow", "--set train.epochs=1 --set run.stall_timeout=0.5", 2).ends(0);
  place
      .run("train recipe.toml --quiet --output slow-disk --set train.epochs=1 --set run.stall_timeout=0.5",
           mpirun(2) + std::string(" env LD_PRELOAD=") + CONVOKE_SLOW_FILES)
      .ends(0);
  CHECK(bytes_of(place / "slow-disk/model.h5") == bytes_of(place / "slow/model.h5"));
  CHECK_FALSE(fs::exists(place / "slow-disk/.heartbeats"));
}
