#include "convoke/archive/zip.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layer_table.hpp"
#include "interop/keras/call.hpp"
#include "interop/keras/model_reader.hpp"
#include "interop/layer_tables.hpp"
#include "run_on.hpp"
#include "sample_models.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"
#include "support/text.hpp"

using namespace convoke;
using namespace convoke::interop;

namespace {

const fs::path kKeras = source_path("test/interop/keras"), kTfjs = source_path("test/interop/tfjs");

void check_golden(const fs::path& file, const std::string& name) {
  INFO(file.string());
  const hdf5::File golden = hdf5::File::open(kKeras / "golden.h5");
  const Imported imported = read_model(file);
  const auto outputs = run_on(imported.models.description.graph, imported.models.members.front().parameters,
                              golden.group(name))
                           .output;
  const std::vector<float> expected = golden.group(name).read<float>("output");
  REQUIRE(outputs.size() == expected.size());
  CHECK(difference(outputs, {expected.begin(), expected.end()}, 1) < 1e-5);
}

// A .keras file with this description and the weights of a fixture.
fs::path with_config(const TemporaryFolder& folder, const std::string& config) {
  const fs::path file = folder.path() / "model.keras";
  const fs::path weights = kKeras / "chain.weights.h5";
  const archive::ZipEntry entries[] = {{.name = "metadata.json", .text = R"({"keras_version": "3.15.1"})"},
                                       {.name = "config.json", .text = config},
                                       {.name = "model.weights.h5", .file = weights}};
  archive::write_zip(file, entries);
  return file;
}

// The output of a layer, as an argument in Keras 3.
std::string tensor_of(const std::string& layer) {
  return R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")" + layer + "\", 0, 0]}}";
}

std::string sequential(const std::string& layers) {
  return R"({"class_name": "Sequential", "config": {"name": "m", "layers": [)"
         R"({"class_name": "InputLayer", "config": {"batch_shape": [null, 6, 6, 1], "name": "in"}}, )" +
         layers + "]}}";
}

// Adds the arrays within `group` to the weights of a model.json, under their paths as names, and to their
// file.
void append_arrays(const hdf5::Group& group, keras::Json& weights, std::string& bytes) {
  for (const std::string& name : group.children()) {
    if (group.has_group(name)) {
      append_arrays(group.group(name), weights, bytes);
      continue;
    }
    const hdf5::Dataset array = group.dataset(name);
    weights.push_back(
        {{"name", array.path().substr(1)}, {"shape", array.shape().extents()}, {"dtype", "float32"}});
    const std::vector<float> values = group.read<float>(name);
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
}

}  // namespace

TEST_CASE("files of Keras 3 and Keras 2 give Keras' outputs") {
  for (const char* name :
       {"pictures.keras", "pictures.h5",         "pictures2.keras",  "text.keras",        "vectors.keras",
        "masked.keras",   "operations.keras",    "operations.h5",    "vectors.h5",        "attention.keras",
        "attention.h5",   "attention2.keras",    "shuffle.keras",    "masked_mean.keras", "functions.keras",
        "functions.h5",   "masked_merges.keras", "masked_merges.h5", "blocks.keras",      "blocks.h5",
        "bfloat16.keras"}) {
    check_golden(kKeras / name, name);
  }
}

TEST_CASE("attributes that others give an .h5 file are not taken for Convoke's") {
  const TemporaryFolder folder;
  write_file(folder / "model.h5", replaced_once(bytes_of(kKeras / "vectors.h5"), "backend", "classes"));
  check_golden(folder / "model.h5", "vectors.h5");
}

TEST_CASE("a .keras file with the records of archives above 4 GiB is read") {
  check_golden(kKeras / "zip64.keras", "masked_mean.keras");
}

TEST_CASE(
    "layers-models of TensorFlow.js give Keras' outputs, with quantized weights those of the rounded ones") {
  check_golden(kTfjs / "pictures/model.json", "pictures");
  check_golden(kTfjs / "quantized/model.json", "quantized");
  const Imported half = read_model(kTfjs / "vectors/model.json");
  CHECK(std::count(half.notes.begin(), half.notes.end(), "weights of float16 were converted to float32") ==
        1);
}

TEST_CASE("a layers-model converted from .keras names its weights by their places in the archive") {
  const TemporaryFolder folder;
  const archive::ZipFile archive(kKeras / "blocks.keras");
  const std::string stored = archive.text("model.weights.h5");
  keras::Json weights = keras::Json::array();
  std::string bytes;
  append_arrays(hdf5::File::open_image(std::as_bytes(std::span(stored)), "blocks.keras"), weights, bytes);
  write_file(folder / "weights.bin", bytes);
  const keras::Json model{
      {"modelTopology",
       {{"keras_version", "3.15.1"}, {"model_config", keras::Json::parse(archive.text("config.json"))}}},
      {"weightsManifest", {{{"paths", {"weights.bin"}}, {"weights", weights}}}}};
  write_file(folder / "model.json", model.dump());
  check_golden(folder / "model.json", "blocks.keras");
}

TEST_CASE("weights of the optimizer in a model of TensorFlow.js are left out") {
  const TemporaryFolder folder;
  const fs::path source = kTfjs / "vectors";
  const std::string momentum =
      R"({"name": "first/kernel/m", "shape": [4, 3], "dtype": "float32", "group": "optimizer"}, )";
  write_file(folder / "model.json",
             replaced_once(bytes_of(source / "model.json"), "\"weights\": [", "\"weights\": [" + momentum));
  const std::string shard = "group1-shard1of1.bin";
  write_file(folder / shard, std::string(4 * 3 * sizeof(float), '\0') + bytes_of(source / shard));
  CHECK(read_model(folder / "model.json").models.members[0].parameters ==
        read_model(source / "model.json").models.members[0].parameters);
}

TEST_CASE("a model made in TensorFlow.js interpolates at its positions, not those of Keras") {
  const TemporaryFolder folder;
  // TensorFlow.js 4.22 doubles (0, 1, 2) as (0, 0.5, 1, 1.5, 2, 2).
  const auto centers = [&](const std::string& version, const std::string& interpolation) {
    const std::string layer =
        R"({"class_name": "UpSampling2D", "config": {"interpolation": ")" + interpolation + "\"}}";
    write_file(folder / "model.json", R"({"modelTopology": {"keras_version": ")" + version +
                                          R"(", "model_config": )" + sequential(layer) +
                                          R"(}, "weightsManifest": [{"paths": [], "weights": []}]})");
    const nn::Graph graph = read_model(folder / "model.json").models.description.graph;
    const Settings settings = graph.nodes().back().layer->settings();
    return settings.find("centers") == nullptr ? "" : settings.find("centers")->to_string();
  };
  CHECK(centers("tfjs-layers 4.22.0", "bilinear") == "\"asymmetric\"");
  CHECK(centers("tfjs-layers 4.22.0", "nearest") == "");
  CHECK(centers("2.15.0", "bilinear") == "");
}

TEST_CASE("nodes have the names of Keras' layers, and the loss that of the compiled model") {
  const Imported imported = read_model(kKeras / "pictures.keras");
  const nn::Graph& graph = imported.models.description.graph;
  CHECK(graph.node(graph.find("block.conv")).layer->type() == "conv2d");
  CHECK(graph.node(graph.find("stem.relu")).layer->type() == "relu");
  const Settings loss = imported.models.description.loss->settings();
  CHECK(loss.find("name")->to_string() == "\"softmax_cross_entropy\"");
  CHECK(loss.find("label_smoothing")->to_string() == "0.1");
  const Imported text = read_model(kKeras / "text.keras");
  CHECK(text.models.description.loss->activation() == "sigmoid");
  CHECK(text.models.description.classes() == 2);
  CHECK(text.models.description.graph.input_shape().type == nn::ValueType::kToken);
}

TEST_CASE("penalties on weights come in and go out") {
  const TemporaryFolder folder;
  Imported model = read_model(kKeras / "attention.keras");
  for (const char* format : {"keras", "h5", ""}) {
    INFO(format);
    const nn::Graph& graph = model.models.description.graph;
    for (const char* part : {"own.query", "own.attention_output"})
      CHECK(graph.node(graph.find(part)).options.l2 == Approx(0.01));
    CHECK(graph.node(graph.find("keys")).options.l1 == 0.25);
    CHECK(graph.node(graph.find("head")).options == nn::ParameterOptions{});
    if (*format == '\0') break;
    const fs::path file = folder / (std::string("model.") + format);
    write_model(file, model.models, format);
    model.models = read_model(file).models;
  }
}

TEST_CASE("a note says what training leaves out or does in another way than Keras") {
  const TemporaryFolder folder;
  const std::string layers =
      R"({"class_name": "Conv2D", "config": {"name": "c", "filters": 2, "kernel_size": [3, 3],
          "kernel_constraint": {"class_name": "NonNeg", "config": {}}, "bias_constraint": null,
          "dtype": {"class_name": "DTypePolicy", "config": {"name": "mixed_float16"}}}},
         {"class_name": "ActivityRegularization", "config": {"name": "a", "l1": 0.1, "l2": 0.0}})";
  const std::vector<std::string> notes = read_model(with_config(folder, sequential(layers))).notes;
  const auto has = [](const std::vector<std::string>& list, const std::string& part) {
    return std::ranges::any_of(list, [&](const std::string& note) { return note.find(part) != note.npos; });
  };
  CHECK(has(notes, "Conv2D \"c\" constrains its weights"));
  CHECK(has(notes, "layers of the policy mixed_float16 compute in float32"));
  CHECK(has(notes, "ActivityRegularization \"a\" adds a penalty of outputs"));

  const std::string d = tensor_of("d"), list = "[" + d + ", " + d + "]";
  const auto masked = [&](const std::string& training, const std::string& operands) {
    hdf5::File weights = hdf5::File::create(folder / "weights.h5");
    hdf5::Group all = weights.create_group("layers");
    hdf5::Group words = all.create_group("embedding").create_group("vars");
    words.write("0", std::span<const float>(std::vector<float>(12, 1.0F)), {4, 3});
    hdf5::Group norm = all.create_group("batch_normalization").create_group("vars");
    for (const char* name : {"0", "1", "2", "3"}) norm.write(name, std::vector<float>(3, 1.0F));
    weights.close();
    const std::string config =
        R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [null, 5]}, "inbound_nodes": []},
      {"class_name": "Embedding", "name": "e", "config": {"input_dim": 4, "output_dim": 3, "mask_zero": true},
       "inbound_nodes": [{"args": [)" +
        tensor_of("in") + R"(], "kwargs": {}}]},
      {"class_name": "Dropout", "name": "d", "config": {"rate": 0.5}, "inbound_nodes": [{"args": [)" +
        tensor_of("e") + R"(], "kwargs": {"training": false}}]},
      {"class_name": "Add", "name": "a", "config": {}, "inbound_nodes": [{"args": [)" +
        operands + R"(], "kwargs": {}}]},
      {"class_name": "BatchNormalization", "name": "n", "config": {}, "inbound_nodes": [{"args": [)" +
        tensor_of("a") + R"(], "kwargs": {)" + training + R"(}}, {"args": [)" + tensor_of("n") +
        R"(], "kwargs": {}}]}],
      "input_layers": [["in", 0, 0]], "output_layers": [["n", 1, 0]]}})";
    const archive::ZipEntry entries[] = {{.name = "metadata.json", .text = R"({"keras_version": "3.15.1"})"},
                                         {.name = "config.json", .text = config},
                                         {.name = "model.weights.h5", .file = folder / "weights.h5"}};
    archive::write_zip(folder / "model.keras", entries);
    return read_model(folder / "model.keras").notes;
  };
  CHECK(has(masked("", list), "BatchNormalization \"n\" reads masked sequences"));
  CHECK_FALSE(has(masked("", d + ", " + d), "masked sequences"));  // an operator ends the mask
  CHECK(has(masked("", list), "BatchNormalization \"n\" is called several times"));
  CHECK_FALSE(has(masked("", list), "training=False"));  // that of the dropout is Keras' default
  CHECK(has(masked(R"("training": false)", list), "training=False"));
}

TEST_CASE("an activation that is a layer of its own keeps its name") {
  const TemporaryFolder folder;
  const std::string layers =
      R"({"class_name": "Activation", "config": {"name": "relu_1", "activation": "relu"}}, )"
      R"({"class_name": "Activation", "config": {"name": "mish_1", "activation": "mish"}}, )"
      R"({"class_name": "Activation", "config": {"name": "slow", "activation": "hard_tanh"}})";
  const nn::Graph graph = read_model(with_config(folder, sequential(layers))).models.description.graph;
  CHECK(graph.node(graph.find("relu_1")).layer->type() == "relu");
  CHECK(graph.node(graph.find("mish_1")).layer->type() == "multiply");
  CHECK(graph.node(graph.find("mish_1.softplus")).layer->type() == "softplus");
  CHECK(graph.nodes().back().name == "slow");
}

TEST_CASE("a plain layer is read by its class, its number in both versions of Keras, and its activation") {
  const TemporaryFolder folder;
  const auto settings_of = [&](std::string_view class_name, std::string_view key, const std::string& value) {
    const std::string config = fmt::format(R"({{"class_name": "{}", "config": {{"{}": {}}}}})", class_name,
                                           key.empty() ? "name" : key, key.empty() ? "\"x\"" : value);
    const Imported imported = read_model(with_config(folder, sequential(config)));
    return imported.models.description.graph.nodes().back().layer->settings();
  };
  // Keras 3.15: keras.layers.ELU().alpha, LeakyReLU().negative_slope
  CHECK(settings_of("ELU", "", "") == Settings{{"layer", "elu"}, {"alpha", 1.0}});
  CHECK(settings_of("LeakyReLU", "", "") == Settings{{"layer", "leaky_relu"}, {"negative_slope", 0.3}});
  CHECK(settings_of("LeakyReLU", "alpha", "0.25") ==
        Settings{{"layer", "leaky_relu"}, {"negative_slope", 0.25}});
  for (const PlainLayer& layer : plain_layers()) {
    INFO(layer.name << " " << layer.keras << " " << layer.function);
    if (!layer.number.name.empty() && !layer.keras.empty()) {
      const Settings own = settings_of(layer.keras, layer.number.keras, "0.25");
      CHECK(own == Settings{{"layer", layer.name}, {std::string(layer.number.name), 0.25}});
    }
    if (!layer.function.empty()) {
      const Settings own = settings_of("Activation", "activation", fmt::format("\"{}\"", layer.function));
      CHECK(*own.find("layer") == Value(layer.name));
    }
  }
}

// Keras numbers layers in the order in which they were made, which need not be that of the network.
TEST_CASE("a network that came from a file takes its weights from it by name, perhaps with another head") {
  const auto network = [](std::int64_t classes) {
    nn::Graph graph({4});
    const auto dense = [](std::int64_t units) {
      return nn::make_layer({{"layer", "dense"}, {"units", units}});
    };
    graph.add(dense(4), {0}, "dense_2");
    graph.add(dense(4), {1}, "dense");
    graph.add(dense(classes), {2}, "dense_1");
    return graph;
  };
  const TemporaryFolder folder;
  run::ModelSet models{.description = {.graph = network(4), .normalization = {}, .class_names = {}},
                       .members = {}};
  std::vector<float> values(engine::canonical_values(engine::canonical_parameters(network(4))));
  std::iota(values.begin(), values.end(), 0.0F);
  run::Member member;
  member.parameters = values;
  models.members.push_back(member);
  for (const char* format : {"keras", "h5", "onnx", "convoke"}) {
    INFO(format);
    const fs::path file = folder / (std::string("model.") + format);
    write_model(file, models, format);
    CHECK(read_weights(file, network(4)).values == values);
    const run::InitialWeights other = read_weights(file, network(3));
    CHECK(other.initialized.size() == 2);
    CHECK(std::equal(other.values.begin(), other.values.begin() + 40, values.begin()));
  }
}

TEST_CASE("weights alone fit a network by the order of layers that Keras numbered") {
  // The network of make_fixtures.py, in which nothing has a name.
  const nn::Graph graph = nn::build_graph(
      {1, 6, 6}, {Settings{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}, {"activation", "relu"}},
                  Settings{{"layer", "conv2d"}, {"filters", 3}, {"kernel", 3}, {"activation", "relu"}},
                  Settings{{"layer", "flatten"}}, Settings{{"layer", "dense"}, {"units", 4}},
                  Settings{{"layer", "dense"}, {"units", 2}}});
  const hdf5::File golden = hdf5::File::open(kKeras / "golden.h5");
  for (const char* name : {"chain.weights.h5", "chain_weights_tf_dim_ordering_tf_kernels.h5"}) {
    INFO(name);
    const run::InitialWeights weights = read_weights(kKeras / name, graph);
    CHECK(weights.initialized.empty());
    CHECK(weights.unused.empty());
    const auto outputs = run_on(graph, weights.values, golden.group(name)).output;
    const std::vector<float> expected = golden.group(name).read<float>("output");
    CHECK(difference(outputs, {expected.begin(), expected.end()}, 1) < 1e-5);
    CHECK_THAT(hint_of([&] { read_model(kKeras / name); }), Contains("[model] zoo"));
  }
}

TEST_CASE("weights of Keras' VGG and MobileNet fit networks whose nodes have other names") {
  nn::Graph graph(Shape{3, 4, 4});
  const auto add = [&](const Settings& layer, const std::string& name) {
    graph.add(nn::make_layer(layer), {graph.nodes().size() - 1}, name);
  };
  const auto convolution = [](int filters) {
    return Settings{{"layer", "conv2d"}, {"filters", filters}, {"kernel", 1}, {"bias", false}};
  };
  const auto dense = [](int units) {
    return Settings{{"layer", "dense"}, {"units", units}, {"bias", false}};
  };
  add(convolution(2), "features.0");
  add(convolution(2), "features.2");
  add({{"layer", "max_pool"}, {"size", 4}}, "pool");
  add(convolution(1), "features.5");
  add({{"layer", "flatten"}}, "flat");
  add(dense(3), "classifier.0");
  add(dense(1), "predictions");

  std::vector<float> values(18);
  std::iota(values.begin(), values.end(), 0.0F);
  std::vector<keras::StoredLayer> layers;
  std::size_t begin = 0;
  const auto store = [&](const std::string& name, const Shape& shape) {
    const auto bytes = std::as_bytes(std::span(values)).subspan(begin * sizeof(float));
    const auto size = static_cast<std::size_t>(shape.elements());
    begin += size;
    layers.push_back(
        {name, {tensor_in_memory("kernel", shape, NumberType::kFloat32, bytes.first(4 * size))}});
  };
  store("block1_conv1", {1, 1, 3, 2});
  store("block1_conv2", {1, 1, 2, 2});
  store("block2_conv1", {1, 1, 2, 1});
  store("fc1", {1, 3});
  store("conv_preds", {1, 1, 3, 1});
  const run::InitialWeights weights = keras::match_layers(layers, graph, "vgg.h5");
  CHECK(weights.initialized.empty());
  CHECK(weights.unused.empty());
  // (in, out) in Keras and (out, in) here
  CHECK(weights.values == std::vector<float>{0, 2, 4, 1, 3, 5, 6, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17});
  CHECK(weights.normalization.reversed);  // "keras-caffe"
}

TEST_CASE("weights of Keras' depthwise convolution fit a convolution of one channel a group") {
  nn::Graph graph(Shape{2, 4, 4});
  const Settings layer{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 2}, {"groups", 2}, {"bias", false}};
  graph.add(nn::make_layer(layer), {0}, "block1a_dwconv");
  const std::array<float, 8> values{0, 1, 2, 3, 4, 5, 6, 7};
  const Tensor kernel =
      tensor_in_memory("kernel", {2, 2, 2, 1}, NumberType::kFloat32, std::as_bytes(std::span(values)));
  const run::InitialWeights weights = keras::match_layers({{"block1a_dwconv", {kernel}}}, graph, "w.h5");
  CHECK(weights.values == std::vector<float>{0, 2, 4, 6, 1, 3, 5, 7});

  // Keras' EfficientNet also stores the statistics of ImageNet, which are not left over, unlike others.
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  const std::array<float, 3> variance{0.052441F, 0.050176F, 0.050625F};
  const auto unused = [&] {
    const auto stored = [](const std::array<float, 3>& numbers) {
      return tensor_in_memory("statistics", {3}, NumberType::kFloat32, std::as_bytes(std::span(numbers)));
    };
    return keras::match_layers(
               {{"block1a_dwconv", {kernel}}, {"normalization", {stored(mean), stored(variance)}}}, graph,
               "w.h5")
        .unused;
  };
  CHECK(unused().empty());
  mean[0] = 0.5F;
  CHECK(unused() == std::vector<std::string>{"normalization"});
}

TEST_CASE("models that Convoke writes for Keras and as ONNX come back with the same outputs") {
  const TemporaryFolder folder;
  bool h5 = false;
  for (const SampleModel& sample : sample_models()) {
    h5 = !h5;  // the two formats in turn
    INFO(sample.name);
    const run::ModelSet models = make_sample(sample);
    const Batch batch(models.description.graph, 2);
    const auto run = [&](const run::ModelSet& set) {
      const nn::Graph& own = set.description.graph;
      Experiment experiment(own, {.micro_batch = 2, .training = false});
      engine::pack(engine::canonical_parameters(own), *experiment.layout, set.members.front().parameters,
                   experiment.parameters.span());
      return experiment.run(batch).output;
    };
    const std::vector<double> expected = run(models);
    for (const char* format : {h5 ? "h5" : "keras", "onnx"}) {
      const fs::path file = folder.path() / ("model." + std::string(format));
      if (!error_of([&] { write_model(file, models, format); }).empty()) continue;  // not in Keras
      if (format == std::string("onnx") && sample.name == "local_response_norm-even") continue;
      INFO(format);
      std::optional<Imported> read;
      CHECK(error_of([&] { read = read_model(file); }) == "");
      if (!read) continue;
      const Imported& back = *read;
      CHECK(back.models.description.class_names == models.description.class_names);
      CHECK(back.models.description.normalization.scale == models.description.normalization.scale);
      CHECK(difference(run(back.models), expected, 1) < 1e-5);
    }
  }
}

TEST_CASE("a padded maximum comes back from Keras as one layer, also in the form of earlier versions") {
  const SampleModel earlier{
      "earlier",
      R"({"input":[3,8,9],"layers":[{"layer":"rescale","scale":0.0,"offset":1.0},)"
      R"({"layer":"zero_pad","padding":[1,0,1,1]},{"layer":"rescale","scale":1e30,"offset":-1e30},)"
      R"({"layer":"zero_pad","padding":[1,0,1,1],"name":"x","inputs":["input"]},)"
      R"({"layer":"add","inputs":["x","rescale_2"]},{"layer":"max_pool","size":3,"stride":2}]})"};
  const TemporaryFolder folder;
  const fs::path file = folder / "model.keras";
  const nn::Graph expected = make_sample(sample_model("max_pool-padded")).description.graph;
  for (const SampleModel& written : {earlier, sample_model("max_pool-padded")}) {
    write_model(file, make_sample(written), "keras");
    const nn::Graph graph = read_model(file).models.description.graph;
    REQUIRE(graph.node(1).layer->type() == "max_pool");
    CHECK(graph.node(1).layer->settings() == expected.node(1).layer->settings());
  }
}

TEST_CASE("layers without a name get the one that Keras derives from their class") {
  // keras.src.utils.naming.to_snake_case, Keras 3.15
  CHECK(keras::snake_case("PReLU") == "p_re_lu");
  CHECK(keras::snake_case("Conv2DTranspose") == "conv2d_transpose");
  CHECK(keras::snake_case("GlobalAveragePooling2D") == "global_average_pooling2d");
  CHECK(keras::snake_case("Custom>LayerScale") == "custom_layer_scale");
  CHECK(keras::snake_case("LSTM") == "lstm");
}

TEST_CASE("an unknown layer is named with its place") {
  const TemporaryFolder folder;
  const std::string inner =
      R"({"class_name": "Sequential", "config": {"name": "backbone", "layers": [
          {"class_name": "MyLayer", "config": {"name": "foo"}}]}})";
  const auto file = with_config(folder, sequential(inner));
  CHECK_THAT(error_of([&] { read_model(file); }),
             Contains("layer \"foo\" (MyLayer) within \"backbone\": layers of this class"));
  with_config(folder, sequential(R"({"class_name": "Lambda", "config": {"name": "f", "function": ["x"]}})"));
  CHECK_THAT(hint_of([&] { read_model(file); }), Contains("Python code, which is never run"));
  with_config(folder, sequential(R"({"class_name": "Dense", "module": "mine", "config": {"units": 2}})"));
  CHECK_THAT(error_of([&] { read_model(file); }), Contains("is a custom layer"));
  // Without "module", as in .h5, a package in the name or other settings than those of Keras Applications.
  for (const char* layer : {R"({"class_name": "Custom>Identity", "config": {}})",
                            R"({"class_name": "Identity", "module": null, "config": {}})",
                            R"({"class_name": "Identity", "module": "keras_cv.layers", "config": {}})",
                            R"({"class_name": "LayerScale", "config": {"initial": 0.1}})",
                            R"({"class_name": "StochasticDepth", "config": {"rate": 0.1}})",
                            R"({"class_name": "Bidirectional", "config": {"merge_mode": "concat", "layer":
                                {"class_name": "LSTM", "module": "mine", "config": {"units": 2}}}})",
                            R"({"class_name": "Activation", "config": {"activation":
                                {"class_name": "ReLU", "module": "mine", "config": {}}}})"}) {
    INFO(layer);
    with_config(folder, sequential(std::string(R"({"class_name": "Flatten", "config": {}}, )") + layer));
    CHECK_THAT(error_of([&] { read_model(file); }), Contains("is a custom layer"));
  }
  const auto reason_for = [&](const char* activation) {
    with_config(folder, sequential(std::string(R"({"class_name": "Activation", "config": {"activation": )") +
                                   activation + "}}"));
    return error_of([&] { read_model(file); });
  };
  for (const char* lambda : {R"({"class_name": "__lambda__", "config": {"value": "4wE="}})",
                             R"({"value": ["4wE=", null, null]})"}) {
    CHECK_THAT(reason_for(lambda), Contains("is a lambda, Python code that is never run"));
  }
  CHECK_THAT(reason_for(R"({"class_name": "function", "module": "builtins", "config": "gelu"})"),
             Contains("is a function of your own, \"gelu\""));
  with_config(folder, R"({"class_name": "Net", "config": {}})");
  CHECK_THAT(error_of([&] { read_model(file); }), Contains("is of the class Net"));
}

TEST_CASE("a PReLU with one slope for several features is refused by that") {
  const TemporaryFolder folder;
  const auto file = with_config(folder, sequential(R"({"class_name": "Flatten", "config": {}},
      {"class_name": "PReLU", "config": {"name": "p", "shared_axes": [1]}})"));
  CHECK_THAT(error_of([&] { read_model(file); }), Contains("\"shared_axes\" is [1]; one slope for each"));
}

TEST_CASE("a convolution without kernel_size is refused, not read with a kernel of one pixel") {
  const TemporaryFolder folder;
  for (const char* layer : {R"({"class_name": "Conv2D", "config": {"filters": 2}})",
                            R"({"class_name": "Reshape", "config": {"target_shape": [6, 6]}},
                               {"class_name": "Conv1D", "config": {"filters": 2}})"}) {
    const auto file = with_config(folder, sequential(layer));
    CHECK_THAT(error_of([&] { read_model(file); }), Contains("\"kernel_size\" is null; a number"));
  }
}

TEST_CASE("a mask that is not that of tokens other than 0 is refused by name") {
  const TemporaryFolder folder;
  const auto reason = [&](const std::string& type, const std::string& number, const std::string& layers) {
    const std::string shape = type == "int32" ? "[null, 6]" : "[null, 6, 3]";
    const auto file = with_config(
        folder, R"({"class_name": "Functional", "config": {"name": "m", "layers": [
          {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": )" +
                    shape + R"(, "dtype": ")" + type + R"("}, "inbound_nodes": []}, )" +
                    R"({"class_name": "NotEqual", "module": "keras.src.ops.numpy", "name": "not_equal",
             "config": {}, "inbound_nodes": [{"args": [)" +
                    tensor_of("x") + ", " + number + R"(], "kwargs": {}}]}, )" + layers +
                    R"({"class_name": "LSTM", "module": "keras.layers", "name": "rnn", "config": {"units": 2,
             "recurrent_activation": "sigmoid"}, "inbound_nodes": [{"args": [)" +
                    tensor_of(layers.empty() ? "x" : "words") + R"(], "kwargs": {"mask": )" +
                    tensor_of("not_equal") + R"(}}]}],
          "input_layers": [["x", 0, 0]], "output_layers": [["rnn", 0, 0]]}})");
    return error_of([&] { read_model(file); });
  };
  CHECK_THAT(reason("float32", "0.5", ""),
             Contains("layer \"not_equal\" (NotEqual): masks time steps by their values"));
  const std::string words =
      R"({"class_name": "Embedding", "module": "keras.layers", "name": "words", "config":
      {"input_dim": 4, "output_dim": 3}, "inbound_nodes": [{"args": [)" +
      tensor_of("x") + R"(], "kwargs": {}}]}, )";
  CHECK_THAT(reason("int32", "1", words), Contains("masks the token 1; supported is 0"));
}

TEST_CASE("recurrent layers and merges that treat masked time steps in another way are refused") {
  const TemporaryFolder folder;
  const archive::ZipFile source(kKeras / "masked.keras");
  const auto reason = [&](const std::string& from, const std::string& to) {
    std::string config = source.text("config.json");
    config.replace(config.find(from), from.size(), to);
    const archive::ZipEntry entries[] = {
        {.name = "metadata.json", .text = source.text("metadata.json")},
        {.name = "config.json", .text = config},
        {.name = "model.weights.h5", .text = source.text("model.weights.h5")}};
    archive::write_zip(folder / "model.keras", entries);
    return error_of([&] { read_model(folder / "model.keras"); });
  };
  CHECK(reason("\"Add\"", "\"Average\"") == "");
  CHECK_THAT(reason("\"Add\"", "\"Maximum\""), Contains("layer \"sum\" (Maximum): reads masked sequences"));
  CHECK_THAT(reason("\"zero_output_for_mask\": false", "\"zero_output_for_mask\": true"),
             Contains("layer \"b\" (GRU): \"zero_output_for_mask\" is true; supported is false"));
}

TEST_CASE("a Bidirectional whose directions compute different functions is refused") {
  const TemporaryFolder folder;
  const auto lstm = [](const std::string& setting) {
    return R"({"class_name": "LSTM", "config": {"units": 2, )" + setting + "}}";
  };
  for (const char* setting : {R"("activation": "relu")", R"("recurrent_activation": "hard_sigmoid")",
                              R"("reset_after": false)", R"("stateful": true)"}) {
    const auto file = with_config(
        folder, sequential(R"({"class_name": "Reshape", "config": {"target_shape": [6, 6]}},
            {"class_name": "Bidirectional", "config": {"merge_mode": "concat", "layer": )" +
                           lstm(R"("name": "a")") + R"(, "backward_layer": )" + lstm(setting) + "}}"));
    CHECK_THAT(error_of([&] { read_model(file); }), Contains("both directions must be alike"));
  }
}

TEST_CASE("a model may name its input and its output in a dictionary") {
  const TemporaryFolder folder;
  const auto file = with_config(folder, R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [null, 4]}, "inbound_nodes": []},
      {"class_name": "ReLU", "name": "out", "config": {}, "inbound_nodes": [[["in", 0, 0, {}]]]}],
      "input_layers": {"x": ["in", 0, 0]}, "output_layers": {"y": ["out", 0, 0]}}})");
  CHECK(read_model(file).models.description.graph.nodes().back().name == "out");
}

TEST_CASE("the output of a nested model is counted from 1, unlike those that its layers read") {
  const TemporaryFolder folder;
  const auto file =
      with_config(folder, R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [null, 4]}, "inbound_nodes": []},
      {"class_name": "Functional", "name": "inner", "config": {"name": "inner", "layers": [
        {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": [null, 4]}, "inbound_nodes": []},
        {"class_name": "ReLU", "name": "r", "config": {}, "inbound_nodes": [{"args": [)" +
                              tensor_of("x") + R"(], "kwargs": {}}]}],
        "input_layers": [["x", 0, 0]], "output_layers": [["r", 0, 0]]}, "inbound_nodes": [{"args": [)" +
                              tensor_of("in") + R"(], "kwargs": {}}, {"args": [)" + tensor_of("inner") +
                              R"(], "kwargs": {}}]}],
      "input_layers": [["in", 0, 0]], "output_layers": [["inner", 2, 0]]}})");
  CHECK(read_model(file).models.description.graph.nodes().back().name == "inner.r_1");
}

TEST_CASE("an open input needs its shape") {
  const TemporaryFolder folder;
  const auto file = with_config(folder, R"({"class_name": "Sequential", "config": {"layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, null, null, 1], "name": "in"}},
      {"class_name": "Conv2D", "config": {"filters": 2, "kernel_size": [3, 3]}},
      {"class_name": "GlobalAveragePooling2D", "config": {}}]}})");
  CHECK_THAT(hint_of([&] { read_model(file); }), Contains("--input C,H,W"));
  CHECK(read_model(file, {.input = {1, 9, 8}}).models.description.graph.input_shape() == Shape{1, 9, 8});
  CHECK_THAT(error_of([&] { read_model(file, {.input = {3, 9, 8}}); }), Contains("its input is"));
}

TEST_CASE("hostile descriptions give an error") {
  const TemporaryFolder folder;
  const auto functional = [](const std::string& layers, const std::string& output) {
    return R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [null, 4]}, "inbound_nodes": []},)" +
           layers + R"(], "input_layers": [["in", 0, 0]], "output_layers": [[")" + output + R"(", 0, 0]]}})";
  };
  const auto dense = [](const std::string& name, const std::string& from) {
    return R"({"class_name": "Dense", "name": ")" + name +
           R"(", "config": {"units": 2}, "inbound_nodes": [[[")" + from + R"(", 0, 0, {}]]]})";
  };
  std::string deep;
  for (int i = 0; i < 60; ++i) {
    deep += R"({"class_name": "Sequential", "config": {"layers": [)";
  }
  deep += R"({"class_name": "Flatten", "config": {}})";
  for (int i = 0; i < 60; ++i) deep += "]}}";
  std::string brackets(100'000, '[');
  const std::pair<std::string, const char*> cases[] = {
      {functional(dense("a", "b") + "," + dense("b", "a"), "b"), "does not follow from its input"},
      {functional(dense("a", "missing"), "a"), "does not exist"},
      {functional(dense("a", "in") + "," + dense("a", "in"), "a"), "two layers"},
      {sequential(deep), "models within models"},
      {sequential(brackets), "nested deeper"},
      {sequential(R"({"class_name": "Conv2D", "config": {"filters": 1e12, "kernel_size": 3}})"),
       "whole number"},
      {sequential(R"({"class_name": "Conv2D", "config": {"filters": 2000000000, "kernel_size": 3}})"),
       "conv2d"},
      {sequential(R"({"class_name": "ZeroPadding2D", "config": {"padding": [[1, 2], [-3, 4]]}})"),
       "at least 0"},
      {sequential(R"({"class_name": "Reshape", "config": {"target_shape": [0, -1]}})"), "target_shape"},
      {sequential(R"({"class_name": "Permute", "config": {"dims": [7, 8, 9]}})"), "axes count from 1"},
      {sequential(R"({"class_name": 3, "config": 4})"), ""},
      {"{", "no valid JSON"},
      {"[]", "is of the class"},
      {R"({"class_name": "Sequential", "config": {"layers": 5}})", ""},
  };
  for (const auto& [config, message] : cases) {
    INFO(config.substr(0, 300));
    const auto file = with_config(folder, config);
    const auto before = std::chrono::steady_clock::now();
    const std::string error = error_of([&] { read_model(file); });
    CHECK_THAT(error, StartsWith(file.string()));
    CHECK_THAT(error, Contains(message));
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(1));
  }
}

TEST_CASE("models shared within models are bounded") {
  // Level i + 1 calls level i twice: 2^30 layers. Keras 3 counts the calls of its output from 1 if the level
  // is a model.
  std::string model = R"({"class_name": "Activation", "config": {"name": "a", "activation": "relu"}})";
  for (int i = 0; i < 30; ++i) {
    model = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [null, 4]}, "inbound_nodes": []},
      {"name": "inner", "inbound_nodes": [{"args": [)" +
            tensor_of("in") + R"(]}, {"args": [)" + tensor_of("inner") + "]}], " + model.substr(1) +
            R"(], "input_layers": ["in", 0, 0], "output_layers": ["inner", )" + (i == 0 ? "1" : "2") +
            ", 0]}}";
  }
  const TemporaryFolder folder;
  const auto file = with_config(folder, model);
  CHECK_THAT(error_of([&] { read_model(file); }), Contains("more than 4000 layers"));
}

TEST_CASE("truncated and damaged files give an error") {
  const TemporaryFolder folder;
  for (const char* name : {"pictures.keras", "vectors.keras", "pictures.h5"}) {
    const std::string bytes = bytes_of(kKeras / name);
    for (std::size_t size = 8; size < bytes.size(); size += bytes.size() / 16) {
      const fs::path file = folder.path() / name;
      write_file(file, bytes.substr(0, size));
      CHECK(error_of([&] { read_model(file); }) != "");
    }
    for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 60) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      write_file(folder.path() / name, damaged);
      error_of([&] { read_model(folder.path() / name); });  // an Error, or unused bytes: never a crash
    }
  }
}

TEST_CASE("manifests of TensorFlow.js stay in their folder and fit their files") {
  const TemporaryFolder folder;
  const std::string text = bytes_of(kTfjs / "vectors/model.json");
  const std::string shard = "group1-shard1of1.bin";
  fs::copy_file(kTfjs / "vectors" / shard, folder.path() / shard);
  const fs::path file = folder.path() / "model.json";
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    write_file(file, changed);
    return error_of([&] { read_model(file); });
  };
  CHECK(error_with(shard, shard) == "");
  for (const char* path :
       {"../group1-shard1of1.bin", "/etc/passwd", "a/../../b", "", "..\\\\x", "a\\u0000b"}) {
    CHECK_THAT(error_with(shard, path), Contains("not in its folder"));
  }
  CHECK_THAT(error_with("\"shape\": [4, 3]", "\"shape\": [4, 300000000]"), Contains("end before"));
  CHECK_THAT(error_with("\"shape\": [4, 3]", "\"shape\": [-4, -3]"), Contains("not the shape of an array"));
  CHECK_THAT(error_with("\"shape\": [4, 3]", "\"shape\": [4, 2]"), Contains("names weights of"));
  CHECK_THAT(error_with("\"dtype\": \"float16\"", "\"dtype\": \"string\""), Contains("no numbers"));
  CHECK_THAT(error_with("layers-model", "graph-model"), Contains("is a graph-model"));
  write_file(file, text);
  write_file(folder.path() / shard, "short");
  CHECK_THAT(error_of([&] { read_model(file); }), Contains("end before"));
}
