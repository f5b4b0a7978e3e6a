// Kinds of sources with the real binary. (data_prep/prepare_test compares the files of a team and of one
// process for each.)
#include "apps/place.hpp"
#include "convoke/data/dataset.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/source_path.hpp"

namespace {

std::string source(const std::string& name) { return source_path("test/data_prep/files/containers/" + name); }

}  // namespace

TEST_CASE("traces of I/O prepared on 1 and 3 ranks are the same bytes, and a damaged line ends all ranks") {
  const Place place;
  for (const std::string label : {"near", "far"}) {
    for (int run = 0; run < 4; ++run) {
      std::string csv = "time,operation,offset,size,file\n";
      for (int i = 0; i < 64; ++i) {
        const int offset = label == "near" ? i * 512 : (i * 7919 + run) % 100'000;
        csv +=
            std::to_string(i) + ",read," + std::to_string(offset) + "," + std::to_string(512 + run) + ",a\n";
      }
      write_file(place / "traces" / label / (std::to_string(run) + ".csv"), csv);
    }
  }
  const auto prepare = [&](int ranks, const std::string& output) {
    return place.run(
        "prepare traces --kind io-traces --window 16 --allow-duplicates --split train=0.5,test=0.5 "
        "--output " +
            output,
        ranks);
  };
  for (const int ranks : {1, 3}) {
    const std::string output = std::to_string(ranks) + ".h5";
    prepare(ranks, output).ends(0);
    CHECK(bytes_of(place / output) == bytes_of(place / "1.h5"));
  }
  write_file(place / "traces/near/2.csv", "time,operation,offset,size,file\n0,read,x,512,a\n");
  const Outcome damaged = prepare(2, "damaged.h5");
  CHECK(damaged.code != 0);
  CHECK_THAT(damaged.text, Contains("2.csv"));
  CHECK_FALSE(fs::exists(place / "damaged.h5"));
}

TEST_CASE("a damaged archive ends every rank with the reason, and leaves no dataset") {
  const Place place;
  const std::string good = bytes_of(source("color.npz"));
  write_file(place / "cut.npz", good.substr(0, good.size() / 2));
  const Outcome outcome = place.run("prepare cut.npz --output cut.h5", mpirun(2));
  CHECK(outcome.code != 0);
  CHECK_THAT(outcome.text, Contains("cut.npz: is not a complete zip archive"));
  CHECK_FALSE(fs::exists(place / "cut.h5"));
}

TEST_CASE("an .npz batch is labeled as the same batch in .npy") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  REQUIRE(place.commands("cmake -E tar xf " + source("gray.npz")).code == 0);
  const Outcome npy = place.run("predict run x_test.npy --output npy.csv").ends(0);
  REQUIRE(place.run("predict run " + source("gray.npz") + " --output npz.csv").code == 0);
  CHECK(bytes_of(place / "npz.csv") ==
        substituted(bytes_of(place / "npy.csv"), "x_test\\.npy", source("gray.npz")));
  CHECK_THAT(place.run("predict run " + source("bad_names.npz")).text,
             Contains("the array with the samples of test is ambiguous; the arrays are first, second"));
}
