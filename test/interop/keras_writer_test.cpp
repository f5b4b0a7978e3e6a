
#include <nlohmann/json.hpp>

#include "convoke/archive/zip.hpp"
#include "convoke/core/error.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/nn/layer_table.hpp"
#include "interop/format.hpp"
#include "interop/keras/composition.hpp"
#include "sample_models.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

using namespace convoke;
using namespace convoke::interop;
using namespace convoke::interop::keras_export;

namespace {

using Names = std::vector<std::string>;

run::ModelSet sample(std::string_view name, int members = 1) {
  return make_sample(sample_model(name), members);
}

// An .h5 file that was written.
struct WrittenH5 {
  TemporaryFolder folder;
  hdf5::File file;

  explicit WrittenH5(const run::ModelSet& models, const ExportOptions& options = {})
      : file((write_keras_h5(folder / "model.h5", models, options), hdf5::File::open(folder / "model.h5"))) {}

  Json attribute(const std::string& name) const { return Json::parse(file.attribute<std::string>(name)); }
  Json layers() const { return attribute("model_config")["config"]["layers"]; }
  Json layer(const std::string& name) const {
    for (const Json& layer : layers())
      if (layer["name"] == name) return layer;
    return {};
  }
  Names classes() const {
    Names names;
    for (const Json& layer : layers()) names.push_back(layer["class_name"]);
    return names;
  }
};

}  // namespace

TEST_CASE("every sample has layers of Keras, or is refused with its node and a hint") {
  Names refused;
  for (const SampleModel& own : sample_models()) {
    INFO(own.name);
    const run::ModelSet models = sample(own.name);
    const nn::Graph& graph = models.description.graph;
    const ModelWeights weights(graph, models.members[0].parameters);
    FunctionalModel model(KerasDialect::kKeras3);
    const KerasTensor input = model.add_input(keras_shape(graph.input_shape()), false);
    try {
      const KerasTensor output = compose_model(model, graph, weights, "", input);
      CHECK(output.shape == graph.output_shape());
      std::int64_t values = 0, constants = 0;
      for (const std::size_t i : model.order(output)) {
        for (const KerasWeight& weight : model.layers()[i].weights) {
          const std::vector<float> made = weight.make();
          CHECK(std::ssize(made) == weight.shape.elements());
          const bool constant = model.layers()[i].config["trainable"] == false;
          (constant ? constants : values) += weight.shape.elements();
        }
      }
      CHECK(values == graph.parameter_count());
      if (own.name.find("uneven") != std::string_view::npos && own.name.starts_with("adaptive_average"))
        CHECK(constants == 7 * 3 + 9 * 4);
    } catch (const Error& error) {
      refused.emplace_back(own.name);
      CHECK_THAT(error.what(), Contains("_1: Keras has no layer for"));
      CHECK_THAT(error.hint(), Contains("--format onnx"));
    }
  }
  CHECK(refused == Names{"local_response_norm", "local_response_norm-even"});
}

TEST_CASE("Keras has no transposed convolution with both a stride and a dilation") {
  const SampleModel both{"conv2d_transpose-both",
                         R"({"input":[3,5,6],"layers":[{"layer":"conv2d_transpose","filters":4,)"
                         R"("kernel":3,"stride":[2,1],"dilation":[1,2]}]})"};
  CHECK_THAT(error_of([&] { WrittenH5 written(make_sample(both)); }),
             Contains("with both a stride and a dilation above 1"));
}

TEST_CASE("a classifier is written for images that lie channels last") {
  const WrittenH5 written(sample("classifier"));
  CHECK(written.classes() ==
        Names{"InputLayer", "Conv2D", "BatchNormalization", "Activation", "GlobalAveragePooling2D", "Dense"});
  CHECK(written.layer("input")["config"]["batch_input_shape"] == Json::parse("[null, 8, 8, 3]"));
  CHECK(written.layer("output")["config"]["kernel_size"] == Json::parse("[3, 3]"));
  CHECK(written.layer("dense_1")["inbound_nodes"] ==
        Json::parse(R"([[["global_average_pool_1", 0, 0, {}]]])"));
  CHECK(written.file.group("model_weights/output").attribute<Names>("weight_names") ==
        Names{"output/kernel:0", "output/bias:0"});
}

TEST_CASE("a flattened image is reordered only where another layer than a dense one reads it") {
  const Names classes = WrittenH5(sample("flatten-dense")).classes();
  CHECK(std::count(classes.begin(), classes.end(), "Permute") == 0);
  CHECK(WrittenH5(sample("shared")).layer("flatten_1_channels_first")["class_name"] == "Permute");
}

// A sum with -1e30 leaves nothing of the numbers where TensorFlow adds constants in another order.
TEST_CASE("padding below all numbers adds no large constant to them") {
  const auto count = [](const Names& classes, const char* name) { return std::ranges::count(classes, name); };
  const Names below = WrittenH5(sample("max_pool-padded")).classes();
  CHECK(count(below, "Add") == 0);
  CHECK(count(below, "ReLU") == 1);
  CHECK(count(below, "Subtract") == 1);
  CHECK(count(WrittenH5(sample("max_pool-relu")).classes(), "Subtract") == 0);  // zeroes do
}

TEST_CASE("shared layers are called twice and stored once") {
  const WrittenH5 written(sample("shared"));
  CHECK(written.layer("conv")["inbound_nodes"].size() == 2);
  CHECK(written.layer("fc")["inbound_nodes"].size() == 2);
  CHECK(written.layer("again").is_null());
  CHECK(written.attribute("model_config")["config"]["output_layers"] == Json::parse(R"([["fc", 1, 0]])"));
}

TEST_CASE("a focal loss keeps its gamma") {
  run::ModelSet models = sample("classifier");
  models.description.loss = nn::make_loss({{"name", "softmax_focal"}, {"gamma", 1.5}});
  const Json loss = WrittenH5(models).attribute("training_config")["loss"];
  CHECK(loss["class_name"] == "CategoricalFocalCrossentropy");
  CHECK(loss["config"]["gamma"] == 1.5);
  CHECK(loss["config"]["alpha"] == 1.0);
}

TEST_CASE("the loss says whether the network ends in logits") {
  const Json logits = WrittenH5(sample("classifier")).attribute("training_config");
  CHECK(logits["loss"]["class_name"] == "SparseCategoricalCrossentropy");
  CHECK(logits["loss"]["config"]["from_logits"] == true);
  CHECK(logits["optimizer_config"]["class_name"] == "Adam");
  CHECK(logits["metrics"] == Json::parse(R"(["accuracy"])"));
  CHECK(WrittenH5(sample("dense")).attribute("training_config")["loss"]["config"]["from_logits"] == false);
  CHECK(WrittenH5(sample("classifier", 2)).attribute("training_config")["loss"]["config"]["from_logits"] ==
        false);
  run::ModelSet other = sample("classifier");
  other.description.loss = nn::make_loss({{"name", "mean_squared_error"}});
  CHECK(WrittenH5(other).attribute("training_config")["loss"]["class_name"] == "MeanSquaredError");
}

TEST_CASE("raw input is normalized by Keras' first layer") {
  run::ModelSet models = sample("classifier");
  const Json by_channel = WrittenH5(models, {.raw_input = true}).layer("normalization");
  CHECK(by_channel["class_name"] == "Normalization");
  CHECK(by_channel["config"]["mean"][1].get<double>() == Approx(0.75 / 0.03));
  CHECK(by_channel["config"]["variance"][0].get<double>() == Approx(2500));
  models.description.normalization = {{0.5F, 0.5F, 0.5F}, {-1, -1, -1}};
  const Json equal = WrittenH5(models, {.raw_input = true}).layer("normalization");
  CHECK(equal["class_name"] == "Rescaling");
  CHECK(equal["config"]["scale"] == 0.5);
  CHECK(equal["config"]["offset"] == -1.0);
  models.description.normalization.scale[1] = 0;
  CHECK_THAT(error_of([&] { WrittenH5(models, {.raw_input = true}); }), Contains("scale of channel 1 is 0"));
}

TEST_CASE("a mask begins at the embedding, and ends where our layer has none") {
  const WrittenH5 written(sample("lstm-mask-ends"));
  CHECK(written.layer("embedding_1")["config"]["mask_zero"] == true);
  CHECK(written.layer("lstm_2_unmasked")["class_name"] == "Reshape");
  CHECK(WrittenH5(sample("embedding")).layer("embedding_1")["config"]["mask_zero"] == false);
}

TEST_CASE("a .keras file holds metadata, configuration and numbered weights") {
  const TemporaryFolder folder;
  const run::ModelSet models = sample("lstm-both");
  write_keras(folder / "model.keras", models, {});
  const archive::ZipFile archive(folder / "model.keras");
  const Json metadata = Json::parse(archive.text("metadata.json"));
  CHECK(metadata["class_names"].size() == 6);
  CHECK(metadata["normalization_scale"].size() == 4);
  const Json config = Json::parse(archive.text("config.json"));
  CHECK(config["class_name"] == "Functional");
  CHECK(config["config"]["layers"][1]["config"]["layer"]["class_name"] == "LSTM");
  CHECK(config["compile_config"]["loss"]["config"]["from_logits"] == true);
  const std::string stored = archive.text("model.weights.h5");
  const hdf5::File weights = hdf5::File::open_image(std::as_bytes(std::span(stored)), "model.weights.h5");
  CHECK(weights.dataset("layers/bidirectional/forward_layer/cell/vars/0").shape() == Shape{4, 12});
  CHECK(weights.dataset("layers/bidirectional/backward_layer/cell/vars/1").shape() == Shape{3, 12});
  CHECK(entries_in(folder.path()).size() == 1);  // no temporary file
}

TEST_CASE("the same model gives the same Keras files") {
  const TemporaryFolder folder;
  for (const char* name : {"a.keras", "b.keras"}) write_keras(folder / name, sample("lstm-masked"), {});
  CHECK(bytes_of(folder / "a.keras") == bytes_of(folder / "b.keras"));
  for (const char* name : {"a.h5", "b.h5"}) write_keras_h5(folder / name, sample("shared"), {});
  CHECK(bytes_of(folder / "a.h5") == bytes_of(folder / "b.h5"));
}

TEST_CASE("more layers than an attribute holds are listed in parts") {
  const WrittenH5 written(sample("dense", 500));
  const hdf5::Group weights = written.file.group("model_weights");
  CHECK(!weights.has_attribute("layer_names"));
  CHECK(weights.attribute<Names>("layer_names0").size() == 2000);
  CHECK(weights.attribute<Names>("layer_names1").size() == 2);  // 500 x 4, input, mean
}

TEST_CASE("layers are in the order in which Keras numbers them") {
  // a -> b -> c -> sum, a -> d -> sum: d has the depth of c, but is seen later in the walk from the output.
  FunctionalModel model(KerasDialect::kKeras3);
  const Shape shape{4};
  const auto add = [&](const std::string& name, std::vector<KerasTensor> inputs) {
    return model.add("Activation", name, Json::object(), {}, std::move(inputs), shape);
  };
  const KerasTensor input = model.add_input(shape, false);
  const KerasTensor a = add("a", {input}), d = add("d", {a}), b = add("b", {a}), c = add("c", {b});
  add("unused", {a});
  Names names;
  for (const std::size_t i : model.order(add("sum", {c, d}))) names.push_back(model.layers()[i].name);
  CHECK(names == Names{"input", "a", "b", "c", "d", "sum"});
}
