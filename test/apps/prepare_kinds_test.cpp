// Each kind of source with the real binary: any number of ranks gives the same file, bit for bit, and an
// invalid source ends all of them.
#include "apps/place.hpp"
#include "convoke/data/dataset.hpp"
#include "support/catch.hpp"

using Catch::Contains;

namespace {

struct Kind {
  const char* source;
  const char* options;
};

constexpr Kind kKinds[] = {
    {"cifar10", "--allow-duplicates"},
    {"colour.npz", ""},
    {"tokens.npz", "--split train=0.5,test=0.5"},
    {"imagenet", ""},
    {"flowers", "--size 4x4 --channels 1"},
    {"shards", ""},
    {"named.tar.gz", "--split train=0.5,test=0.5"},
    {"faults.tfrecord", "--skip-bad --split train=0.5,test=0.5"},
};

std::string source(const std::string& name) { return std::string(CONVOKE_PREPARE_FILES) + "/" + name; }

}  // namespace

TEST_CASE("CIFAR, NumPy, TFRecords and WebDataset prepared on 1, 2 and 3 ranks are the same bytes") {
  const Kind kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
  INFO(kind.source);
  const Place place;
  const auto prepare = [&](int ranks, const std::string& output) {
    const Outcome outcome =
        place.run("prepare " + source(kind.source) + " --output " + output + " " + kind.options,
                  ranks == 1 ? "" : mpirun(ranks));
    INFO(outcome.text);
    REQUIRE(outcome.code == 0);
    return bytes_of(place / output);
  };
  const std::string alone = prepare(1, "1.h5");
  CHECK(alone.size() > 1000);
  CHECK(prepare(2, "2.h5") == alone);
  CHECK(prepare(3, "3.h5") == alone);
}

TEST_CASE("a damaged archive ends every rank with the reason, and leaves no dataset") {
  const Place place;
  const std::string good = bytes_of(source("colour.npz"));
  write_text(place / "cut.npz", good.substr(0, good.size() / 2));
  const Outcome outcome = place.run("prepare cut.npz --output cut.h5", mpirun(2));
  CHECK(outcome.code != 0);
  CHECK_THAT(outcome.text, Contains("cut.npz: is not a complete zip archive"));
  CHECK_FALSE(fs::exists(place / "cut.h5"));
}

TEST_CASE("an .npz batch is labelled as the same batch in .npy") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  REQUIRE(shell("cd " + place.folder.path().string() + " && cmake -E tar xf " + source("grey.npz")).code ==
          0);
  const Outcome npy = place.run("predict run x_test.npy --output npy.csv");
  INFO(npy.text);
  REQUIRE(npy.code == 0);
  REQUIRE(place.run("predict run " + source("grey.npz") + " --output npz.csv").code == 0);
  std::string expected = bytes_of(place / "npy.csv");
  for (std::size_t at = 0; (at = expected.find("x_test.npy", at)) != std::string::npos;) {
    expected.replace(at, std::string("x_test.npy").size(), source("grey.npz"));
    at += source("grey.npz").size();
  }
  CHECK(bytes_of(place / "npz.csv") == expected);
  CHECK_THAT(place.run("predict run " + source("bad_names.npz")).text,
             Contains("the array with the samples of test is ambiguous; the arrays are first, second"));
}
