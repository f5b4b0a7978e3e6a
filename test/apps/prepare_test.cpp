// `convoke prepare`, and data.path with sources, as users see them. (chaos/kills.sh kills ranks that
// prepare.)
#include "apps/place.hpp"
#include "support/catch.hpp"

namespace {

/// A place with a small MNIST in a folder "idx" and a recipe for it.
struct Source {
  Place place;
  Source() {
    fs::create_directory(place / "idx");
    write_small_mnist(place / "idx", true);
    write_file(place / "small.toml", recipe_of("small", "path = \"idx\"", R"(input = [1, 4, 5]
layers = [ { layer = "flatten" }, { layer = "dense", units = 4, activation = "softmax" } ])",
                                               "batch = 8\nmicro_batch = 4"));
  }
};

}  // namespace

TEST_CASE("any number of ranks prepares the same bytes, in one file or in shards") {
  const Source source;
  const Place& place = source.place;
  for (const int ranks : {1, 2, 3}) {
    const std::string name = "by" + std::to_string(ranks);
    place.run("prepare idx --output " + name + ".h5 --split train=0.5,test=0.5", ranks)
        .ends(0)
        .shows("splits: train=0.5, test=0.5, stratified, seed 1");
    CHECK(bytes_of(place / (name + ".h5")) == bytes_of(place / "by1.h5"));
    CHECK(place.run("prepare idx --output " + name + "/ --shards 3", ranks).code == 0);
    CHECK(bytes_of(place / name / "train-00001-of-00003.h5") ==
          bytes_of(place / "by1" / "train-00001-of-00003.h5"));
  }
}

TEST_CASE("data.path may be a source: it is prepared once, in the cache") {
  const Source source;
  const Place& place = source.place;
  const std::string cache = "XDG_CACHE_HOME=" + (place / "cache").string() + " ";
  const auto train = [&](const std::string& output, int ranks) {
    return place.run("train small.toml --quiet --output " + output,
                     cache + (ranks == 1 ? "" : mpirun(ranks)));
  };
  CHECK(place.run("doctor small.toml --quick").says("warning  recipe"));  // it would train, so it is no error
  train("a", 2).ends(0).shows("/idx: not a dataset but a source; preparing");
  train("b", 1).ends(0).shows("/idx: not a dataset but a source; using the prepared");

  // A changed source under the same name gives another dataset.
  write_gzip(place / "idx/train-images-idx3-ubyte.gz", small_image_file(30, 50));
  CHECK(train("c", 1).says("a source; preparing"));
  const fs::path labels = place / "idx/train-labels-idx1-ubyte.gz";  // replaced by an older file
  fs::last_write_time(labels, fs::last_write_time(labels) - std::chrono::hours(1));
  CHECK(train("d", 1).says("a source; preparing"));

  place.run("train small.toml --quiet --output e", "XDG_CACHE_HOME=/proc/none HOME=/proc/none " + mpirun(2))
      .fails("cannot be created")
      .shows("hint: set XDG_CACHE_HOME to a folder that you may write to");
}

TEST_CASE("prepare refuses invalid requests before it begins") {
  const Source source;
  const Place& place = source.place;
  const auto error = [&](const std::string& arguments, int ranks = 1) {
    const Outcome outcome = place.run("prepare " + arguments, ranks).ends(1);
    return outcome.text;
  };
  CHECK_THAT(error("idx"), Contains("--output is missing"));
  CHECK_THAT(error("idx --output a.h5 --split train=1,test=1"), Contains("the fractions sum to 2, not 1"));
  CHECK_THAT(error("idx --output a.h5 --fold 6/5"), Contains("--fold 6/5: there is no such fold"));
  CHECK_THAT(error("idx --output a.h5 --size 10by10"), Contains("--size 10by10: is not understood"));
  CHECK_THAT(error("idx --output /proc/none/a.h5"), Contains("/proc/none/a.h5.work: cannot be created"));
  CHECK_THAT(error("recipe.toml --output a.h5"), Contains("is not recognized as a source of samples"));
  CHECK_THAT(error("nothing --output a.h5", 3), Contains("nothing: no such file or folder"));

  // A hundred thousand images of 10,000 x 10,000 pixels, in a sparse file: more than fits on a disk.
  write_file(place / "idx/t10k-images-idx3-ubyte", idx_bytes(0x803, {100000, 10000, 10000}, {}));
  write_file(place / "idx/train-images-idx3-ubyte", idx_bytes(0x803, {100000, 10000, 10000}, {}));
  for (const char* split : {"t10k", "train"}) {
    const auto images = place / (std::string("idx/") + split + "-images-idx3-ubyte");
    fs::resize_file(images, 16 + 100000ULL * 10000 * 10000);
    write_file(place / (std::string("idx/") + split + "-labels-idx1-ubyte"), small_label_file(100000));
  }
  CHECK_THAT(error("idx --output a.h5", 2), Contains("of samples temporarily need twice their size"));
  CHECK_FALSE(fs::exists(place / "a.h5"));
}

TEST_CASE("unreadable pictures do not stop prepare: it lists twenty of them, counts all and ends with 1") {
  const Place place;
  const std::uint8_t gray = 7;
  for (int i = 0; i < 60; ++i) {
    const auto folder = place / "pictures" / (i % 2 == 0 ? "cats" : "dogs");
    if (i < 25) write_file(folder / (std::to_string(i) + ".bmp"), "BM, but no more");
    if (i >= 25) write_file(folder / (std::to_string(i) + ".png"), gray_png({&gray, 1}, 1));
  }
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    const Outcome outcome = place.run("prepare pictures --output p.h5 --allow-duplicates", ranks).ends(1);
    CAPTURE(outcome.text);
    outcome.once("pictures: 25 of 60 samples cannot be read:");
    CHECK(outcome.times("the BMP is truncated") == 20);
    CHECK(outcome.times("and 5 more") == 1);
    CHECK(outcome.says("--skip-bad; p.h5.findings.csv lists them all"));
    CHECK_FALSE(fs::exists(place / "p.h5"));
  }
  place.run("prepare pictures --output p.h5 --allow-duplicates --skip-bad", mpirun(2))
      .ends(0)
      .shows("25 samples left out: unreadable");
}
