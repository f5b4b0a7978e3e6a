// What ./quickstart would start on machines with more cores than this one.
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/shell.hpp"
#include "support/source_path.hpp"

namespace {

struct Start {
  int ranks = 0, threads = 1;
  std::string command;
};

std::vector<Start> dry_run(const std::string& topology) {
  const fs::path program = binary();  // its name relative to the folder of the caller
  const Outcome outcome =
      shell("cd " + program.parent_path().string() + " && CONVOKE=./" + program.filename().string() + " " +
            topology + "bash " + source_path("quickstart") + " --dry-run")
          .ends(0);
  std::vector<Start> starts;
  for (const Match& line : all_matches(outcome.text, "mpirun -n ([0-9]+) .*run.threads=([0-9]+).*"))
    starts.push_back({std::stoi(line[1]), std::stoi(line[2]), line[0]});
  return starts;
}

// Writes a program, and returns its path.
std::string script(const fs::path& file, const std::string& lines) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n" << lines;
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

}  // namespace

TEST_CASE("quickstart repeats a run from which other programs took more than a tenth, once") {
  // In place of training: runs whose summaries have the shares of `shares`, one after another.
  const TemporaryFolder folder;
  const fs::path here = folder.path();
  fs::copy(source_path("quickstart"), here / "quickstart");
  script(here / "data-prep/get", "echo mnist\n");
  script(here / "bin/mpirun",
         "while [ \"$1\" != " + (here / "convoke").string() + " ]; do shift; done; exec \"$@\"\n");
  const std::string convoke = script(here / "convoke", R"(case $1 in
  info) echo rank; echo "0 x 2" ;;
  train)
    for run; do :; done
    mkdir -p "$run"
    share=$(sed -n 1p shares)
    sed -i 1d shares
    echo "{\"other_programs\": $share, \"ranks\": 2}" > "$run/summary.json" ;;
  compare) echo "$@" ;;
esac
)");
  const auto runs = [&](const std::string& shares) {
    std::ofstream(here / "shares") << substituted(shares, " ", "\n") << "\n";
    const Outcome outcome =
        shell("cd " + here.string() + " && PATH=" + (here / "bin").string() + ":$PATH CONVOKE=" + convoke +
              " CONVOKE_CACHE=" + (here / "cache").string() + " ./quickstart")
            .ends(0);
    return outcome;
  };
  // The baseline was contended, and the ensemble twice, the second time more.
  const Outcome outcome = runs("0.31 0.05 0.1 0.2 0.5");
  CHECK(outcome.times("repeated, because") == 2);
  CHECK(outcome.says(
      "repeated, because other programs took 31 % of the cores: one rank, one synchronous model"));
  CHECK(
      !first_match(outcome.text, "compare \\S+-one-rank-repeated \\S+-synchronous \\S+-ensemble\n").empty());
  // In a run of less than a second it is unknown.
  const Outcome quiet = runs("0.1 null 0");
  CHECK(quiet.times("repeated, because") == 0);
  CHECK(!first_match(quiet.text, "compare \\S+-one-rank \\S+-synchronous \\S+-ensemble\n").empty());
}

TEST_CASE("quickstart starts no more ranks than micro-batches, 12 members, and a run on all cores") {
  const std::string files = source_path("test/os/topologies/");
  for (const auto& [host, cores] : {std::pair(files + "odd_cores.xml", 4),
                                    {files + "hybrid.xml", 6},
                                    {"core:16 pu:2", 16},
                                    {"pack:2 numa:1 core:32 pu:2", 64},
                                    {"core:128", 128}}) {
    const std::string topology = "CONVOKE_TOPOLOGY='" + host + "' ";
    const std::vector<Start> starts = dry_run(topology);
    CAPTURE(host);
    REQUIRE(starts.size() == (cores > 8 ? 4 : 3));
    for (const Start& start : starts) CHECK(start.ranks * start.threads <= cores);
    CHECK(starts[0].ranks == 1);
    CHECK(starts[1].ranks == std::min(cores, 8));
    CHECK(starts[2].ranks == std::min(cores, 12));
    CHECK_THAT(starts[2].command, Contains("train mnist-ensemble"));
    if (cores <= 8) continue;
    CHECK(starts[3].ranks == cores);
    CHECK_THAT(starts[3].command, Contains("train.reference_batch=64"));
    // The recipe of that run has work for all of them.
    const std::string settings = substituted(  // without the threads of one rank
        starts[3].command, ".*train (mnist-sync .*) --set run.threads=1 (.*) --output.*", "$1 $2");
    const Outcome summary = shell(topology + binary() + " summary " + settings);
    const std::string all = std::to_string(cores);
    summary.shows("which keep " + all + " of " + all + " cores busy\n");
  }
  shell("CONVOKE=" + binary() + " CONVOKE_TOPOLOGY=core:many bash " + source_path("quickstart") +
        " --dry-run")
      .fails("error");
}
