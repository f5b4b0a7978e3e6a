// Commands use the outputs, the weights and the normalization of models of other programs.
#include <sys/stat.h>

#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

namespace {

// A network of TensorFlow.js for pictures of 8 x 8: `first` (layers, each with a comma behind it), Flatten,
// and a dense layer whose kernel is `weight` everywhere.
struct Network {
  std::string first = {}, activation = "linear";
  std::vector<float> bias{0.1F, 0.2F, 0.3F, 0.4F};
  float weight = 0;

  void write(const fs::path& folder) const {
    fs::create_directories(folder);
    const std::string units = std::to_string(bias.size());
    write_file(
        folder / "model.json",
        R"({"modelTopology": {"keras_version": "2.1.6", "model_config": {"class_name": "Sequential", "config": [
      {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 8, 8, 1]}}, )" +
            first + R"({"class_name": "Flatten", "config": {"name": "flatten"}},
      {"class_name": "Dense", "config": {"name": "dense", "units": )" +
            units + R"(, "activation": ")" + activation + R"("}}]}},
      "weightsManifest": [{"paths": ["shard"], "weights": [
      {"name": "dense/kernel", "shape": [64, )" +
            units + R"(], "dtype": "float32"}, {"name": "dense/bias", "shape": [)" + units +
            R"(], "dtype": "float32"}]}]})");
    std::vector<float> values(64 * bias.size(), weight);
    values.insert(values.end(), bias.begin(), bias.end());
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    write_file(folder / "shard", std::string(bytes, values.size() * sizeof(float)));
  }
};

std::vector<std::string> first_row(const Outcome& outcome, const fs::path& csv) {
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  return rows_of(csv).at(1);
}

const std::string kPredict = "predict net/model.json data.h5 --output out.csv ";

}  // namespace

TEST_CASE("the first outputs show that they are probabilities; --outputs decides") {
  const Place place;
  Network{}.write(place / "net");
  const Outcome seen = place.run(kPredict, mpirun(2));
  CHECK(seen.says("note: outputs: probabilities (those of the first 60 samples"));
  CHECK(first_row(seen, place / "out.csv")[7] == "0.400000");
  const Outcome logits = place.run(kPredict + "--outputs logits");
  CHECK(std::stod(first_row(logits, place / "out.csv")[7]) == Approx(0.288651).epsilon(1e-5));
  // scipy.special.softmax([.1, .2, .3, .4])[3]
  const Outcome scores = place.run(kPredict + "--outputs score-logits");
  CHECK(std::stod(first_row(scores, place / "out.csv")[7]) == Approx(0.598688).epsilon(1e-5));

  // What is imported predicts the same, and evaluate agrees.
  CHECK(place.run("import net/model.json --output net.h5").says("note: outputs: assumed to be logits"));
  const Outcome imported = place.run("predict net.h5 data.h5 --output out.csv");
  CHECK(imported.says("note: outputs: probabilities"));
  CHECK(first_row(imported, place / "out.csv")[7] == "0.400000");
  CHECK(place.run("evaluate net.h5 --data data.h5").says("note: outputs: probabilities"));

  Network{.bias = {0.1F, 0.2F, 0.3F, 7}}.write(place / "net");
  place.run(kPredict + "--outputs probabilities").ends(1).shows("--outputs logits");
}

TEST_CASE("one output is the second of two classes, or a number") {
  const Place place;
  fs::remove(place / "data.h5");
  write_dataset(place / "data.h5", 20, 8, 2, 20);
  Network{.bias = {2}}.write(place / "net");
  const std::vector<std::string> logit = first_row(place.run(kPredict), place / "out.csv");
  CHECK(logit[2] == "1");
  CHECK(logit[4] == "0.119203");  // 1 - 1 / (1 + exp(-2))
  CHECK(logit[5] == "0.880797");
  const std::vector<std::string> number =
      first_row(place.run(kPredict + "--outputs values"), place / "out.csv");
  CHECK(number == std::vector<std::string>{"data.h5", "0", "2"});
  Network{.activation = "sigmoid", .bias = {2}}.write(place / "net");
  CHECK(first_row(place.run(kPredict), place / "out.csv") == logit);
}

TEST_CASE("weights that are not finite are named, and nothing is written") {
  const Place place;
  Network{.bias = {0.1F, std::numeric_limits<float>::quiet_NaN(), 0.3F, 0.4F}}.write(place / "net");
  write_file(place / "next.toml",
             "[data]\npath = \"data.h5\"\n[model]\nfile = \"net/model.json\"\n[train]\nbatch = 32\n");
  for (const std::string& command : {std::string("import net/model.json --output out.h5"), kPredict,
                                     std::string("train next.toml --quiet --output run")}) {
    const Outcome outcome = place.run(command, mpirun(command.starts_with("import") ? 1 : 2));
    CAPTURE(outcome.text);
    CHECK(outcome.code != 0);
    CHECK(outcome.says("dense.bias (1 of 4 values not finite)"));
  }
  CHECK_FALSE(fs::exists(place / "out.h5"));
  CHECK_FALSE(fs::exists(place / "out.csv"));
  // Finite weights whose sums overflow: the sample is named on every rank.
  Network{.bias = {1e38F, 0, 0, 0}, .weight = 1e38F}.write(place / "net");
  const Outcome overflow = place.run(kPredict + "--outputs logits", mpirun(2));
  CAPTURE(overflow.text);
  CHECK(overflow.code != 0);
  CHECK(overflow.says("data.h5: the model gives nan for sample 0"));
  place.run("evaluate net/model.json --data data.h5 --outputs logits", mpirun(2))
      .ends(1)
      .shows("net/model.json: the outputs are not finite for 60 of 60 samples");
  Network{.bias = {1e38F}, .weight = 1e38F}.write(place / "net");
  place.run(kPredict + "--outputs values").ends(1).shows("inf for sample 0");
  CHECK_FALSE(fs::exists(place / "out.csv"));
}

TEST_CASE("a regression model of another program is evaluated by the nearest label") {
  const Place place;
  Network{.bias = {1.2F}}.write(place / "net");
  const Outcome outcome = place.run("evaluate net/model.json --data data.h5 --outputs values --json")
                              .ends(0)
                              .shows("\"classes\":4");
  const Pictures test(60, 8, 4, 2);
  const auto ones = std::ranges::count(test.labels, 1);
  outcome.shows(fmt::format("\"accuracy\":{}", static_cast<double>(ones) / 60));
}

TEST_CASE("a run that predicts the label as a number gives this value, and no probabilities") {
  const Place place;
  write_file(
      place / "graded.toml",
      recipe_of("graded", "path = \"data.h5\"",
                "input = [1, 8, 8]\nlayers = [{ layer = \"flatten\" }, { layer = \"dense\", units = 1 }]",
                "batch = 32\nloss = { name = \"mean_squared_error\" }"));
  place.run("train graded.toml --quiet --output run").ends(0);
  CHECK_THAT(bytes_of(place / "run/summary.json"), !Contains("\"ece\""));
  place.run("evaluate run").ends(0).shows("quadratic kappa").never("ECE").never("ROC AUC");
  for (const int ranks : {1, 2}) {
    place.run("predict run data.h5 --output out.csv", ranks).ends(0);
    const auto rows = rows_of(place / "out.csv");
    REQUIRE(rows.size() == 61);
    CHECK(rows[0] == std::vector<std::string>{"input", "index", "label", "class", "value"});
    for (std::size_t i = 1; i < rows.size(); ++i) {
      CHECK(std::stod(rows[i][2]) == std::round(std::clamp(std::stod(rows[i][4]), 0.0, 3.0)));
    }
  }
}

TEST_CASE("a file that is read is not replaced, and names of classes fit the model") {
  const Place place;
  Network{}.write(place / "net");
  fs::create_symlink("net/model.json", place / "link.json");
  fs::create_hard_link(place / "net/model.json", place / "hard.json");
  const std::string before = bytes_of(place / "net/model.json");
  for (const char* output : {"net/model.json", "net/../net/model.json", "link.json", "hard.json"}) {
    place.run(std::string("import net/model.json --output ") + output).ends(1).shows("would be replaced");
  }
  CHECK(bytes_of(place / "net/model.json") == before);
  REQUIRE(place.run("import net/model.json --output model.h5").code == 0);
  CHECK(place.run("export model.h5 --format h5").says("model.h5: is also read"));

  write_file(place / "two.txt", "a\nb\n");
  place.run("import net/model.json --class-names two.txt --output named.h5")
      .ends(1)
      .shows("two.txt: has 2 names, but the model has 4 classes");
  CHECK_FALSE(fs::exists(place / "named.h5"));
  write_file(place / "twice.txt", "red\ngreen\nred\nwhite\n");
  place.run("import net/model.json --class-names twice.txt --output named.h5")
      .ends(1)
      .shows("twice.txt: \"red\" is given twice");
  write_file(place / "four.txt", "red\r\ngreen\r\nblue\r\nwhite\r\n\r\n");
  REQUIRE(place.run("import net/model.json --class-names four.txt --output named.h5").code == 0);
  const Outcome named = place.run("predict named.h5 data.h5 --output out.csv");
  CHECK(first_row(named, place / "out.csv")[3] == "white");
}

TEST_CASE("only who does not choose a normalization reads that the file says nothing about it") {
  const Place place;
  Network{.activation = "softmax"}.write(place / "net");
  const std::string note = "does not say how pictures are normalized";
  CHECK(place.run("import net/model.json --output raw.h5").says(note));
  CHECK(place.run("evaluate net/model.json --data data.h5").says(note));
  CHECK(!place.run("import net/model.json --normalize unit --output unit.h5").says(note));
  write_file(place / "next.toml", recipe_of("next", "path = \"data.h5\"", "file = \"net/model.json\"",
                                            "epochs = 1\nbatch = 32\nreduction = \"exact\""));
  place.run("train next.toml --quiet --output next")
      .ends(0)
      .shows("weights: net/model.json: 2 of 2 parameters")
      .never(note);
}

TEST_CASE("a network that rescales its input is not given normalized samples") {
  const Place place;
  Network{
      .first = R"({"class_name": "Rescaling", "config": {"name": "unit", "scale": 0.00392156862745098}}, )",
      .activation = "softmax",
      .weight = 0.01F}
      .write(place / "net");
  place.run("evaluate net/model.json --data data.h5")
      .shows("the network normalizes them itself")
      .never("--normalize");
  place.run("import net/model.json --normalize unit --output twice.h5")
      .ends(0)
      .shows("look as if they normalize the input; --normalize unit does so before them");
  place.run("import net/model.json --normalize none --output once.h5").ends(0);
  const std::string data = "[data]\npath = \"data.h5\"\nnormalize = \"";
  const std::string model =
      "\"\n[model]\nfile = \"net/model.json\"\n[train]\nbatch = 32\nreduction = \"exact\"\n";
  write_file(place / "unit.toml", "name = \"same\"\n" + data + "unit" + model);
  write_file(place / "none.toml", "name = \"same\"\n" + data + "none" + model);
  const Outcome unit = place.run("train unit.toml --quiet --output unit").ends(0);
  CAPTURE(unit.text);
  unit.shows("data.normalize is \"none\", not \"unit\"");
  CHECK_FALSE(place.run("train none.toml --quiet --output none").says("not \"unit\""));
  CHECK(bytes_of(place / "unit/model.h5") == bytes_of(place / "none/model.h5"));
}

TEST_CASE("every command that takes a model file chooses its output and what the outputs are") {
  const Place place;
  fs::copy_file(source_path("test/interop/endings/several.keras"),
                place / "several.keras");  // "scores", and their softmax "odds"
  for (const char* command : {"summary ", "bench --inference --seconds 0.01 --rounds 1 "}) {
    const std::string run = command + std::string("several.keras");
    CAPTURE(run);
    place.run(run).ends(1).shows("choose one with --output-node");
    CHECK(place.run(run + " --output-node odds").code == 0);
    CHECK(place.run(run + " --output-node none").says("has no output \"none\""));
    CHECK(place.run(run + " --output-node odds --input 1,9,9").says("not (N, 1, 9, 9)"));
  }
  const std::string toml = "summary several.keras --output-node scores --toml ";
  CHECK(place.run(toml).says("softmax_cross_entropy"));
  CHECK(place.run(toml + "--outputs score-logits").says("sigmoid_cross_entropy"));
  CHECK(place.run(toml + "--outputs values").says("mean_squared_error"));
  CHECK(place.run(toml + "--outputs logit").code != 0);
  CHECK(place.run("summary resnet20 --output-node odds").says("\"output_node\" needs \"file\""));

  // A value within a model of Convoke, and its own output.
  REQUIRE(place.train("run", "--set train.epochs=0").code == 0);
  const std::string features = " data.h5 --raw --output-node flatten_1 --output features.npy";
  place.run("predict run" + features).ends(1).shows("has one output").shows("export MODEL --format onnx");
  place.run("predict run data.h5 --input 1,9,9")
      .ends(1)
      .shows("takes samples (N, 1, 8, 8), not (N, 1, 9, 9)");
  REQUIRE(place.run("export run --format onnx").code == 0);
  place.run("predict run.onnx" + features).ends(0).never("as the file says");
}

TEST_CASE("a file that is refused is named once, and a pipe is not waited for") {
  const Place place;
  write_file(place / "x.pt", "\x80\x02}q");
  place.run("summary x.pt").ends(1).shows("error: x.pt: is a pickle");
  write_file(place / "file.toml", "[data]\npath = \"data.h5\"\n[model]\nfile = \"x.pt\"\n");
  CHECK(place.run("summary file.toml").says("file.toml:4: x.pt: is a pickle"));
  REQUIRE(::mkfifo((place / "pipe").c_str(), 0600) == 0);
  for (const char* command : {"summary pipe", "train pipe", "bench pipe", "predict pipe data.h5",
                              "import pipe --output out.h5", "summary file.toml --set model.file=pipe"}) {
    CAPTURE(command);
    place.run(command, "timeout 20").ends(1).shows("pipe: is a named pipe (FIFO)");
  }
}
