// Datasets of encoded pictures, from `convoke prepare` to predictions.
#include "apps/place.hpp"
#include "convoke/hdf5/file.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

namespace {

/// A place with the samples of its data.h5 as a source, "idx".
struct EncodedSource : Place {
  EncodedSource() { write_idx_files(*this / "idx", 150); }
};

}  // namespace

TEST_CASE("a PNG dataset trains to the same bits as its pixels, in memory or streamed, on 1 and 2 ranks") {
  const EncodedSource place;
  REQUIRE(place.train("plain").code == 0);
  place.run("prepare idx --output png.h5 --encoded png", mpirun(2)).ends(0).shows("encoded pictures of ");
  REQUIRE(place.run("prepare idx --output shards --encoded png --shards 3").code == 0);
  const std::string streamed = " --set data.memory=9KiB --set data.shuffle=true";
  for (const auto& [data, ranks] :
       {std::pair(std::string("png.h5"), 1), {"png.h5" + streamed, 2}, {"shards" + streamed, 2}}) {
    fs::remove_all(place / "run");
    CAPTURE(data, ranks);
    place.train("run", "--set data.path=" + data, ranks).ends(0);
    CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "plain/model.h5"));
  }
  // A run that began with pixels continues with PNGs.
  CHECK(place.train("plain", "--resume --set train.epochs=4 --set data.path=png.h5").code == 0);
}

TEST_CASE("inspect, evaluate and predict read encoded pictures") {
  const EncodedSource place;
  REQUIRE(place.train("run").code == 0);
  REQUIRE(place.run("prepare idx --output png.h5 --encoded png").code == 0);
  const Outcome jpeg = place.run("prepare idx --output jpeg.h5 --encoded jpeg --jpeg-quality 97").ends(0);
  place.run("inspect jpeg.h5").ends(0).shows("stored as JPEG of quality 97").shows("encoded pictures of ");
  // All but the lines that name the file and its encoding are those of the pixels.
  const auto findings = [&](const std::string& file) {
    const std::string text = place.run("inspect " + file).text;
    return text.substr(text.find("imbalance"));
  };
  CHECK(findings("png.h5") == findings("data.h5"));
  const auto scores = [&](const std::string& file) {  // without names, provenance and seconds
    const std::string text = place.run("evaluate run --json --data " + file).text;
    return text.substr(0, text.find("\"mistakes\""));
  };
  CHECK_THAT(scores("png.h5"), Contains("accuracy"));
  CHECK(scores("png.h5") == scores("data.h5"));
  for (const char* file : {"png", "data"}) {
    const std::string name = file;
    place.run("predict run " + name + ".h5 --output " + name + ".csv").ends(0);
  }
  CHECK(bytes_of(place / "png.csv") == substituted(bytes_of(place / "data.csv"), "data\\.h5", "png.h5"));
}

TEST_CASE("a damaged encoded picture ends all ranks, and is named once") {
  const EncodedSource place;
  REQUIRE(place.run("prepare idx --output png.h5 --encoded png").code == 0);
  {
    const auto offset = convoke::hdf5::File::open(place / "png.h5").dataset("train/encoded").raw_offset();
    std::fstream file(place / "png.h5", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(*offset) + 40);
    file.put('\x55').put('\x55');
  }
  for (const char* memory : {"", " --set data.memory=9KiB"}) {
    place.train("run", std::string("--set data.path=png.h5") + memory, 2)
        .fails("png.h5: /train/encoded: sample 0: ")
        .shows("hint: copy the dataset again, or prepare the data again");
  }
}

TEST_CASE("prepare refuses an encoding that is not known, and a quality without one") {
  const EncodedSource place;
  CHECK(place.run("prepare idx --output x.h5 --encoded gif").code != 0);
  CHECK(place.run("prepare idx --output x.h5 --jpeg-quality 80").says("--encoded"));
  CHECK(place.run("prepare idx --output x.h5 --encoded jpeg --jpeg-quality 101").code != 0);
  place.run("prepare idx --output x.h5 --encoded png --jpeg-quality 80")
      .ends(1)
      .shows("error: --jpeg-quality has no effect with --encoded png")
      .shows("hint: remove it, or add --encoded jpeg");
  CHECK_FALSE(fs::exists(place / "x.h5"));
}
