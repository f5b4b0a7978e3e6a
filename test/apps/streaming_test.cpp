#include "convoke/data/shards.hpp"
#include "place.hpp"
#include "support/catch.hpp"

// Datasets that exceed data.memory, in shards, and with a separate validation split, with the real binary.

namespace {

namespace data = convoke::data;

void write_shards(const fs::path& folder, std::int64_t shards = 4) {
  data::DatasetInfo info;
  info.sample_shape = convoke::Shape{1, 8, 8};
  info.classes = 4;
  info.provenance = "made by a test";
  const auto splits = data::in_shards({{"train", 150}, {"validation", 40}, {"test", 60}}, shards);
  auto writer = data::DatasetWriter::create(folder, info, splits);
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const Pictures pictures(splits[i].samples, 8, 4, i + 1);
    writer.write(splits[i].name, 0, pictures.samples, pictures.labels);
  }
  writer.finish();
}

}  // namespace

TEST_CASE("a dataset beyond data.memory trains to the same bits, from a file and from shards") {
  const Place place;
  write_shards(place / "shards");
  for (const char* from : {"data.h5", "shards"}) {
    const std::string path = std::string(" --set data.path=") + from;
    const std::string chunks = path + " --set data.shuffle=chunks --set data.window=2KiB";
    REQUIRE(place.train(from + std::string("-memory"), chunks).code == 0);
    place.train(from + std::string("-stream"), chunks + " --set data.memory=9KiB", 2)
        .ends(0)
        .once("exceed data.memory")
        .never("warning: with data.shuffle");
    CHECK(bytes_of(place / (from + std::string("-memory/model.h5"))) ==
          bytes_of(place / (from + std::string("-stream/model.h5"))));
  }
  place.train("jumping", "--set data.memory=1KiB")
      .ends(0)
      .shows("warning: with data.shuffle = true, every sample (64 B) is read separately");

  // A run may be resumed with another memory limit, but not with another order.
  CHECK(place.train("jumping", "--resume --set train.epochs=4").code == 0);
  place.train("jumping", "--resume --set data.shuffle=chunks").ends(1).shows("data.shuffle");
}

TEST_CASE("a separate split is used for validation") {
  const Place place;
  write_shards(place / "shards");
  const std::string split = "--set data.path=shards --set data.validation_split=";
  place.train("run", split + "validation --set train.mode=ensemble", 2).ends(0);
  CHECK_THAT(bytes_of(place / "run/summary.json"), Contains("\"training_samples\": 75"));
  CHECK_THAT(bytes_of(place / "run/recipe.toml"), Contains("validation_split = \"validation\""));
  CHECK(place.run("evaluate run --split validation", mpirun(2)).says("40 images"));
  place.train("none", split + "valid", 2).fails("shards: has no split \"valid\"");
}

TEST_CASE("splits are streamed from more shards than the process may open") {
  const Place place;
  write_shards(place / "shards", 40);
  write_shards(place / "few");
  const std::string all =
      " --set data.validation_split=validation --set data.shuffle=chunks --set data.window=2KiB "
      "--set train.epochs=2 --quiet --output ";
  const auto train = [&](const std::string& data, const std::string& more) {
    return place.run("train recipe.toml --set data.path=" + data + all + data + "-run" + more,
                     "ulimit -n 80 &&");
  };
  train("shards", " --set data.memory=1KiB").ends(0);
  CHECK(train("few", "").code == 0);
  CHECK(bytes_of(place / "shards-run/model.h5") == bytes_of(place / "few-run/model.h5"));
}

TEST_CASE("a missing shard ends all ranks, and is named once") {
  const Place place;
  write_shards(place / "shards");
  fs::remove(place / "shards/train-00002-of-00004.h5");
  place.train("run", "--set data.path=shards", 2)
      .fails("shards/train-00002-of-00004.h5: no such file, but split \"train\" has 4 shards");
  CHECK_FALSE(fs::exists(place / "run"));
}

TEST_CASE("a dataset that is truncated while it is streamed ends all ranks") {
  const Place place;
  const std::string cut = "{ (sleep 1; truncate -s 5000 data.h5) & } && timeout 60";
  place
      .run(
          "train recipe.toml --quiet --output run --set train.epochs=1000000 --set data.memory=1B "
          "--set run.checkpoint_every=0",
          cut + " " + mpirun(2))
      .ends(1)
      .shows("data.h5: is truncated");
  CHECK_FALSE(fs::exists(place / "run/model.h5"));
}
