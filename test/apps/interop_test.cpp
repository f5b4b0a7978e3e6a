// Models that enter and leave through the commands.
#include <cstring>

#include "apps/place.hpp"
#include "support/catch.hpp"

namespace {

std::string recipe_from(const std::string& model, const fs::path& data) {
  return recipe_of("next", "path = \"" + data.string() + "\"", model,
                   "epochs = 1\nbatch = 32\nreduction = \"exact\"");
}

// Safetensors: the length of a table of JSON, the table, and the numbers.
std::string with_another_tensor(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const std::string table = file.substr(sizeof length, length), numbers = file.substr(sizeof length + length);
  const std::string more = "{\"features.99.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" +
                           std::to_string(numbers.size()) + "," + std::to_string(numbers.size() + 4) + "]}," +
                           table.substr(1);
  const std::uint64_t longer = more.size();
  return std::string(reinterpret_cast<const char*>(&longer), sizeof longer) + more + numbers +
         std::string(4, '\0');
}

}  // namespace

TEST_CASE("a recipe starts from a model file, which one rank alone can read") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const fs::path alone = place / "alone", elsewhere = place / "elsewhere";
  fs::create_directories(alone);
  fs::create_directories(elsewhere);
  fs::copy_file(place / "run/model.h5", alone / "start.h5");
  write_file(alone / "next.toml", recipe_from("file = \"start.h5\"\n", place / "data.h5"));

  const std::string train = binary() + " train next.toml --quiet --output " + (place / "two").string();
  place
      .run_by_rank("cd " + alone.string() + " && exec " + train,
                   "cd " + elsewhere.string() + " && exec " + train)
      .ends(0)
      .shows("weights: start.h5: 8 of 8 parameters");
  const Outcome one = shell("cd " + alone.string() + " && " + binary() +
                            " train next.toml --quiet --output " + (place / "one").string())
                          .ends(0);
  CHECK(bytes_of(place / "one/model.h5") == bytes_of(place / "two/model.h5"));
  CHECK(bytes_of(place / "one/model.h5") != bytes_of(place / "run/model.h5"));
}

TEST_CASE("another number of classes replaces the head, and the run says so") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  write_dataset(place / "six.h5", 60, 8, 6);
  write_file(place / "next.toml", recipe_from("file = \"run/model.h5\"\nclasses = 6\n", place / "six.h5"));
  place.run("train next.toml --quiet --output next")
      .ends(0)
      .shows("6 of 8 parameters; initialized: dense_1.weight (6, 72), in the file (4, 72)");
}

TEST_CASE("weights of a published network come with the normalization that they expect") {
  const Place place;
  const convoke::Shape shape{3, 32, 32};
  auto writer = convoke::data::DatasetWriter::create(
      place / "colors.h5", {.sample_shape = shape, .classes = 4}, {{"train", 8}, {"test", 8}});
  const std::vector<std::uint8_t> samples(static_cast<std::size_t>(8 * shape.elements()), 100);
  const std::vector<std::int32_t> labels(8, 1);
  for (const char* split : {"train", "test"}) writer.write(split, 0, samples, labels);
  writer.finish();
  write_file(place / "published.toml",
             "name = \"published\"\n[data]\npath = \"colors.h5\"\nnormalize = \"imagenet\"\n[model]\nzoo = "
             "\"squeezenet1.1\"\ninput = [3, 32, 32]\nclasses = 4\n[train]\nepochs = 1\nbatch = 8\n");
  REQUIRE(place.run("train published.toml --quiet --output run").code == 0);
  REQUIRE(place.run("export run --format safetensors").code == 0);

  const std::string import =
      "import run.safetensors --zoo squeezenet1.1 --classes 4 --input 3,32,32 --output ";
  CHECK(place.run(import + "back.h5").says("pixels are normalized as \"imagenet\""));
  CHECK(!place.run(import + "other.h5 --normalize unit").says("pixels are normalized"));
  const auto scores = [&](const std::string& model) {
    const std::string text = place.run("evaluate " + model + " --data colors.h5 --json").text;
    return text.substr(0, text.find("\"prefix_accuracy\""));  // accuracy and loss
  };
  CHECK(scores("back.h5") == scores("run/model.h5"));
  CHECK(scores("other.h5") != scores("run/model.h5"));
  place.run("import other.h5 --zoo squeezenet1.1 --classes 4 --input 3,32,32 --output kept.h5")
      .ends(0)
      .shows("samples are normalized as the file of weights expects");
  CHECK(scores("kept.h5") == scores("other.h5"));
  // The published network lacks the first layers of raw.onnx, which normalize.
  REQUIRE(place.run("export run --format onnx --raw-input --output raw.onnx").code == 0);
  place.run("import raw.onnx --zoo squeezenet1.1 --classes 4 --input 3,32,32 --output raw.h5")
      .ends(0)
      .shows("pixels are normalized as \"imagenet\"")
      .never("as the file of weights expects");
  CHECK(scores("raw.h5") == scores("run/model.h5"));
  place.run("import run.safetensors --zoo squeezenet1.1 --output no.h5").ends(1).shows("add --classes N");
  place.run("import other.h5 --normalize standard --output no.h5").ends(1).shows("--normalize none");

  // A layer more, as in the file of a larger network.
  write_file(place / "larger.safetensors", with_another_tensor(bytes_of(place / "run.safetensors")));
  const std::string larger = "import larger.safetensors --zoo squeezenet1.1 --classes 4 --input 3,32,32";
  place.run(larger + " --output larger.h5")
      .ends(1)
      .shows("has 1 weight that squeezenet1.1 lacks")
      .shows("not used: features.99.weight");
  CHECK(!fs::exists(place / "larger.h5"));
  CHECK(place.run(larger + " --partial --output larger.h5").code == 0);
  CHECK(scores("larger.h5") == scores("run/model.h5"));

  // A recipe refuses them too, on every rank and before a run folder is made.
  const std::string train = "train published.toml --quiet --set model.weights=larger.safetensors --output ";
  const Outcome left_over = place.run(train + "next", mpirun(2));
  CHECK(left_over.code != 0);
  CHECK(left_over.says("not used: features.99.weight"));
  CHECK(left_over.says("partial = true"));
  CHECK(!fs::exists(place / "next"));
  place.run(train + "next --set model.partial=true").ends(0).shows("not used: features.99.weight");
}

TEST_CASE("a model is exported and read again as weights and as a model") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  CHECK(place.run("export run --format safetensors").text == "run.safetensors\n");
  write_file(place / "next.toml",
             "name = \"again\"\n[data]\npath = \"data.h5\"\n[model]\nfile = \"run/model.h5\"\nweights = "
             "\"run.safetensors\"\n[train]\nepochs = 1\nbatch = 32\n");
  CHECK(place.run("train next.toml --quiet --output again").says("weights: run.safetensors: 8 of 8"));
  CHECK(place.run("export run --format convoke --output copy.h5").code == 0);
  CHECK(place.run("evaluate copy.h5 --data data.h5 --json").code == 0);
  CHECK(place.run("summary copy.h5").says("conv2d_1"));

  place.run("export run --format onx").ends(2);
  write_file(place / "model.pt", std::string("PK\x03\x04") + std::string(26, ' ') + "archive/data.pkl");
  place.run("import model.pt --output m.h5")
      .ends(1)
      .shows("model.pt: is a pickle, and reading a pickle can run any program");
  CHECK(!fs::exists(place / "m.h5"));
  for (const char* command :
       {"predict model.pt x.png", "evaluate model.pt --data data.h5", "summary model.pt",
        "export model.pt --format onnx", "train model.pt --output t", "bench model.pt"}) {
    place.refuses(command, "model.pt: is a pickle, and reading a pickle can run any program");
  }
}

TEST_CASE("an ensemble is exported member by member") {
  const Place place;
  REQUIRE(
      place.train("votes", "--set train.mode=ensemble --set ensemble.members=2 --set train.epochs=1").code ==
      0);
  place.run("export votes --format safetensors").ends(1).shows("there are 2 members").shows("--each-member");
  CHECK(place.run("export votes --format safetensors --each-member").text ==
        "votes-000.safetensors\nvotes-001.safetensors\n");
}
