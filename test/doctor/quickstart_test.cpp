// What ./quickstart would start on machines with more cores than this one.
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/shell.hpp"

namespace {

struct Start {
  int ranks = 0, threads = 1;
  std::string command;
};

std::string topology(int cores) { return "CONVOKE_TOPOLOGY='core:" + std::to_string(cores) + " pu:2' "; }

std::vector<Start> dry_run(int cores) {
  const Outcome outcome =
      shell("CONVOKE=" + binary() + " " + topology(cores) + "bash " + CONVOKE_QUICKSTART + " --dry-run");
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  std::vector<Start> starts;
  const std::regex line("mpirun -n ([0-9]+) .*run.threads=([0-9]+).*");
  for (auto it = std::sregex_iterator(outcome.text.begin(), outcome.text.end(), line);
       it != std::sregex_iterator(); ++it) {
    starts.push_back({std::stoi((*it)[1]), std::stoi((*it)[2]), it->str()});
  }
  return starts;
}

}  // namespace

TEST_CASE("quickstart starts no more ranks than lanes, 12 members, and a run on all cores") {
  for (const int cores : {2, 8, 16, 64, 128}) {
    const std::vector<Start> starts = dry_run(cores);
    CAPTURE(cores);
    REQUIRE(starts.size() == (cores > 8 ? 4 : 3));
    for (const Start& start : starts) CHECK(start.ranks * start.threads <= cores);
    CHECK(starts[0].ranks == 1);
    CHECK(starts[1].ranks == std::min(cores, 8));
    CHECK(starts[2].ranks == std::min(cores, 12));
    CHECK(starts[2].command.find("train mnist-ensemble") != std::string::npos);
    if (cores <= 8) continue;
    CHECK(starts[3].ranks == cores);
    CHECK(starts[3].command.find("train.reference_batch=64") != std::string::npos);
    // The recipe of that run has work for all of them.
    const std::string settings =
        std::regex_replace(starts[3].command, std::regex(".*train (mnist-sync .*) --output.*"), "$1");
    const Outcome summary = shell(topology(cores) + binary() + " summary " +
                                  std::regex_replace(settings, std::regex("=(\\{[^}]*\\})"), "='$1'"));
    const std::string all = std::to_string(cores);
    CAPTURE(summary.text);
    CHECK(summary.says("which keep " + all + " of " + all + " cores busy\n"));
  }
}
