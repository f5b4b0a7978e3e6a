// The probabilities that follow from a model's outputs, whatever its last nodes are. Golden values:
// endings/make_endings.py.
#include "convoke/engine/evaluator.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/interop/model_io.hpp"
#include "experiment.hpp"
#include "sample_models.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke;
using namespace convoke::interop;

namespace {

const fs::path kEndings = source_path("test/interop/endings");

std::vector<double> probabilities_of(const run::ModelSet& models, const std::vector<float>& samples) {
  const run::ModelDescription& model = models.description;
  engine::Evaluator evaluator(model.graph, {.loss = model.loss, .classes = model.classes()});
  std::vector<double> sum;
  for (const run::Member& member : models.members) {
    evaluator.load(member.parameters);
    const bool values = model.loss->activation().empty();
    const std::vector<float> own = values ? evaluator.outputs(samples) : evaluator.predict(samples);
    sum.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      sum[i] += static_cast<double>(own[i]) / static_cast<double>(models.members.size());
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("a model's outputs become the probabilities of the program that made it") {
  const TemporaryFolder folder;
  const hdf5::File golden = hdf5::File::open(kEndings / "golden.h5");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kEndings)) {
    const std::string name = entry.path().filename().string();
    if (!golden.has_group(name)) continue;
    INFO(name);
    ++files;
    const hdf5::Group group = golden.group(name);
    const std::vector<float> samples = group.read<float>("samples");
    const std::vector<double> expected = group.read<double>("probabilities");
    const auto kind = group.attribute<std::string>("kind");
    const Imported imported = read_model(entry.path(), {.output = group.attribute<std::string>("output")});
    CHECK(imported.outputs_note.starts_with("outputs: "));
    CHECK(difference(probabilities_of(imported.models, samples), expected, 1) < 2e-6);
    // They survive Convoke's own file, and both ways out.
    for (const char* format : {"convoke", "onnx", "keras", "h5"}) {
      INFO(format);
      const fs::path copy = folder.path() / (std::string("copy.") + format);
      write_model(copy, imported.models, format);
      CHECK(difference(probabilities_of(read_model(copy).models, samples), expected, 1) < 2e-6);
    }
    // Only outputs that nothing explains are assumed to be logits.
    const bool foreign_logits =
        name == "logits.onnx" || name == "log_softmax.onnx" || name == "one_logit.onnx";
    CHECK(imported.models.description.outputs_assumed == foreign_logits);
  }
  CHECK(files >= 33);
}

TEST_CASE("an output that does not exist is refused with the names of those that do") {
  for (const char* file : {"several.onnx", "several.keras"}) {
    CHECK_THROWS_WITH(read_model(kEndings / file, {.output = "none"}), Contains("has no output \"none\""));
  }
  CHECK_THROWS_WITH(read_model(kEndings / "several.keras"), Contains("has 2 outputs"));
  const std::vector<std::string> notes = read_model(kEndings / "several.onnx").notes;
  CHECK(std::ranges::any_of(notes,
                            [](const std::string& note) { return note.find("--output-node") != note.npos; }));
}

TEST_CASE("the option --outputs decides what outputs are") {
  const auto declared = [](const char* file, const char* kind) {
    Imported imported = read_model(kEndings / file);
    declare_outputs(imported, kind);
    CHECK_FALSE(imported.models.description.outputs_assumed);
    return imported.models.description;
  };
  const std::vector<float> three{0.5F, 0.25F, 0.25F}, one{0.25F};
  const auto of = [](const run::ModelDescription& model) {
    return model.loss->settings().find("name")->to_string();
  };
  CHECK(of(declared("logits.onnx", "probabilities")) == "\"softmax_cross_entropy\"");
  CHECK(of(declared("logits.onnx", "scores")) == "\"sigmoid_cross_entropy\"");
  CHECK(of(declared("logits.onnx", "values")) == "\"mean_squared_error\"");
  CHECK(declared("one_logit.onnx", "probabilities").classes() == 2);
  CHECK(declared("one_logit.onnx", "values").classes() == 1);
  CHECK(of(declared("identity.onnx", "logits")) == "\"softmax_cross_entropy\"");
  Imported imported = read_model(kEndings / "logits.onnx");
  CHECK_THROWS_WITH(declare_outputs(imported, "odds"), Contains("odds"));
}

TEST_CASE("an ensemble that goes out and comes back gives the same probabilities") {
  const TemporaryFolder folder;
  const hdf5::File golden = hdf5::File::open(kEndings / "golden.h5");
  for (const char* name : {"logits.onnx", "softmax_flatten.onnx"}) {
    run::ModelSet models = read_model(kEndings / name).models;
    models.ensemble = true;
    models.members.push_back(models.members.front());
    for (float& value : models.members.back().parameters) value *= -2;
    const std::vector<float> samples = golden.group(name).read<float>("samples");
    const std::vector<double> expected = probabilities_of(models, samples);
    for (const char* format : {"onnx", "keras", "h5"}) {
      INFO(name << " " << format);
      const fs::path file = folder.path() / (std::string("votes.") + format);
      write_model(file, models, format);
      CHECK(difference(probabilities_of(read_model(file).models, samples), expected, 1) < 2e-6);
    }
  }
}

TEST_CASE("a graded model keeps its loss and its classes on the way out and back") {
  const TemporaryFolder folder;
  run::ModelSet models = read_model(kEndings / "one_logit.onnx").models;
  models.description.loss = nn::make_loss({{"name", "mean_absolute_error"}});
  models.description.class_count = 5;
  models.description.outputs_assumed = false;
  for (const char* format : {"convoke", "onnx", "keras", "h5"}) {
    INFO(format);
    const fs::path file = folder.path() / (std::string("grades.") + format);
    write_model(file, models, format);
    const run::ModelDescription back = read_model(file).models.description;
    CHECK(back.loss->settings() == models.description.loss->settings());
    CHECK(back.classes() == 5);
  }
}

TEST_CASE("a first layer that is called normalization is not taken for that of --raw-input") {
  const TemporaryFolder folder;
  const run::ModelSet models = make_sample(
      {"named", R"({"input":[3,4,4],"layers":[{"layer":"rescale","scale":2.0,"name":"normalization"},)"
                R"({"layer":"flatten"},{"layer":"dense","units":3}]})"});
  for (const char* format : {"onnx", "keras", "h5"}) {
    INFO(format);
    const fs::path file = folder.path() / (std::string("named.") + format);
    write_model(file, models, format);
    CHECK(read_model(file).models.description.normalization == models.description.normalization);
    write_model(file, models, format, {.raw_input = true});
    const data::Normalization none{.scale = {1, 1, 1}, .shift = {0, 0, 0}};
    const Imported raw = read_model(file);
    CHECK(raw.raw_input);
    CHECK(raw.models.description.normalization == none);
    CHECK(raw.normalization_note.empty());
    // A network with its weights need not have its first layers.
    CHECK(read_weights(file, models.description.graph).normalization.scale.empty());
  }
  CHECK_THAT(
      refusal_of([&] { write_model(folder / "a.safetensors", models, "safetensors", {.raw_input = true}); }),
      Contains("\"safetensors\": such a file cannot normalize | ") && EndsWith("formats onnx, keras, h5"));
}

TEST_CASE("the normalization of an exported model comes back, also with reversed channels") {
  const TemporaryFolder folder;
  run::ModelSet models = read_model(kEndings / "sigmoid_flatten.onnx").models;
  models.description.normalization = {.scale = {0.5F, 0.25F}, .shift = {-1, 2}, .reversed = true};
  models.description.float_images = true;
  for (const char* format : {"onnx", "keras", "h5"}) {
    for (const bool raw : {false, true}) {
      if (raw && format != std::string("onnx")) continue;  // Keras has no layer that reverses channels
      INFO(format << raw);
      const fs::path file = folder.path() / (std::string("bgr.") + format);
      write_model(file, models, format, {.raw_input = raw});
      const run::ModelDescription back = read_model(file).models.description;
      const data::Normalization none{.scale = {1, 1}, .shift = {0, 0}};
      CHECK(back.float_images);
      CHECK(back.normalization == (raw ? none : models.description.normalization));
    }
  }
}
