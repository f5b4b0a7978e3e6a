
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers/convolutions.hpp"
#include "interop/format.hpp"
#include "interop/onnx/constant.hpp"
#include "interop/onnx/emission.hpp"
#include "sample_models.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace convoke::interop;
using namespace convoke::interop::onnx_export;

namespace {

// The contents of a written file, as the reader of other programs' files sees them.
struct Written {
  std::string bytes;
  std::vector<onnx::NodeProto> nodes;
  std::map<std::string, std::vector<float>> floats;  // initializers
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::string> metadata;
  std::int64_t opset = 0;

  std::vector<std::string> ops() const {
    std::vector<std::string> list;
    for (const onnx::NodeProto& node : nodes) list.push_back(node.op);
    return list;
  }
};

Written read_written(std::string bytes) {
  Written written;
  written.bytes = std::move(bytes);
  onnx::ModelProto model = onnx::parse_model(std::as_bytes(std::span(written.bytes)));
  written.nodes = std::move(model.nodes);
  written.metadata = {model.metadata.begin(), model.metadata.end()};
  written.opset = model.opset;
  for (const onnx::ValueInfo& input : model.inputs) written.inputs.push_back(input.name);
  for (const onnx::ValueInfo& output : model.outputs) written.outputs.push_back(output.name);
  for (const onnx::TensorProto& tensor : model.initializers) {
    REQUIRE((tensor.type == 1 || tensor.type == 7));
    const std::vector<float> values = onnx::make_constant(tensor, {}).floats();
    if (tensor.type == 1) REQUIRE(written.floats.emplace(tensor.name, values).second);
  }
  return written;
}

Written write_and_read(const run::ModelSet& models, const ExportOptions& options = {}) {
  const TemporaryFolder folder;
  write_onnx(folder / "model.onnx", models, options);
  return read_written(bytes_of(folder / "model.onnx"));
}

Written write_and_read(std::string_view sample, int members = 1, const ExportOptions& options = {}) {
  return write_and_read(make_sample(sample_model(sample), members), options);
}

std::span<const float> stored(const run::ModelSet& models, std::size_t offset, std::size_t count) {
  return std::span(models.members[0].parameters).subspan(offset, count);
}

using Names = std::vector<std::string>;

// Each value and initializer has a name of its own, and nodes read what is there.
void check_connected(const Written& written) {
  CHECK(written.inputs == Names{"input"});
  CHECK(written.outputs == Names{"output"});
  Names values{"input", ""};
  for (const onnx::NodeProto& node : written.nodes) {
    for (const std::string& input : node.inputs) {
      const bool integers = input.find('/') != std::string::npos;  // constants of one node
      CHECK((written.floats.contains(input) || integers ||
             std::count(values.begin(), values.end(), input) == 1));
    }
    for (const std::string& output : node.outputs) {
      CHECK(std::count(values.begin(), values.end(), output) == 0);
      CHECK_FALSE(written.floats.contains(output));
      values.push_back(output);
    }
  }
  CHECK(values.back() == "output");
}

}  // namespace

TEST_CASE("a sample shows every layer, and each is written as a connected ONNX graph") {
  for (const nn::LayerHelp& layer : nn::layer_guide()) {
    INFO(layer.name);
    CHECK(std::any_of(sample_models().begin(), sample_models().end(), [&](const SampleModel& sample) {
      return sample.json.find("\"layer\":\"" + layer.name + "\"") != std::string_view::npos;
    }));
  }
  for (const SampleModel& sample : sample_models()) {
    INFO(sample.name);
    check_connected(write_and_read(sample.name));
  }
}

TEST_CASE("layers that are called as values and weights of others do not collide with them") {
  const run::ModelSet models = make_sample(
      {"names", R"({"input":[3,4,4],"layers":[{"layer":"rescale","scale":2.0,"name":"normalization"},)"
                R"({"layer":"flatten"},{"layer":"dense","units":5,"name":"a"},)"
                R"({"layer":"relu","name":"a.weight"},{"layer":"relu","name":"output"},)"
                R"({"layer":"dense","units":3,"name":"b"}]})"});
  const Written written = write_and_read(models, {.raw_input = true});
  check_connected(written);
  CHECK(written.floats.contains("a.weight_1"));
  CHECK(written.metadata.at("input") == "raw");
  // Nothing normalizes the input of a network of tokens.
  CHECK(write_and_read("lstm-masked", 1, {.raw_input = true}).metadata.at("input") == "normalized");
}

TEST_CASE("a classifier is written with its names and weights") {
  const run::ModelSet models = make_sample(sample_model("classifier"));
  const Written written = write_and_read(models);
  CHECK(written.opset == 17);
  CHECK(written.ops() == Names{"Conv", "BatchNormalization", "Relu", "ReduceMean", "Gemm"});
  // The node is called "output", but the graph's output is the last value.
  CHECK(written.nodes[0].inputs == Names{"input", "output.weight", "output.bias"});
  CHECK(written.nodes[0].outputs == Names{"output_1"});
  CHECK(written.nodes[1].inputs == Names{"output_1", "batch_norm_1.weight", "batch_norm_1.bias",
                                         "batch_norm_1.running_mean", "batch_norm_1.running_var"});
  CHECK(std::ranges::equal(written.floats.at("output.weight"), stored(models, 0, 108)));
  CHECK(std::ranges::equal(written.floats.at("output.bias"), stored(models, 108, 4)));
  CHECK(written.metadata.at("class_names") == R"(["class \"0\"","class \"1\"","class \"2\""])");
  CHECK(written.metadata.at("output") == "logits");
  CHECK(written.metadata.at("normalization_scale").starts_with("[0.0"));
  CHECK(write_and_read("dense").metadata.at("output") == "probabilities");
  CHECK(write_and_read("classifier", 3).metadata.at("output") == "probabilities");
}

TEST_CASE("the same model gives the same bytes") {
  for (const char* name : {"classifier", "lstm-masked", "conv2d_transpose-groups"}) {
    CHECK(write_and_read(name).bytes == write_and_read(name).bytes);
  }
}

TEST_CASE("raw input is normalized by the first nodes") {
  const run::ModelSet models = make_sample(sample_model("classifier"));
  const Written written = write_and_read(models, {.raw_input = true});
  CHECK(written.nodes[0].op == "Mul");
  CHECK(written.nodes[0].inputs[0] == "input");
  CHECK(written.nodes[1].op == "Add");
  CHECK(written.nodes[2].inputs[0] == written.nodes[1].outputs[0]);
  CHECK(written.floats.at("normalization.scale") == models.description.normalization.scale);
  CHECK(written.floats.at("normalization.shift") == models.description.normalization.shift);
  CHECK(write_and_read("gru-masked", 1, {.raw_input = true}).ops() == write_and_read("gru-masked").ops());
}

TEST_CASE("raw input for a network that takes BGR has its channels reversed") {
  run::ModelSet models = make_sample(sample_model("classifier"));
  models.description.normalization.reversed = true;
  const Written written = write_and_read(models, {.raw_input = true});
  CHECK(written.nodes[2].op == "Gather");
  CHECK(written.nodes[2].inputs[0] == written.nodes[1].outputs[0]);
  CHECK(written.nodes[3].inputs[0] == written.nodes[2].outputs[0]);
  CHECK(written.metadata.at("channel_order") == "reversed");
}

TEST_CASE("shared parameters are stored once") {
  const Written written = write_and_read("shared");
  Names weights;
  for (const onnx::NodeProto& node : written.nodes)
    if (node.op == "Conv" || node.op == "Gemm") weights.push_back(node.inputs[1]);
  CHECK(weights == Names{"conv.weight", "conv.weight", "fc.weight", "fc.weight"});
  CHECK(written.floats.size() == 4);
}

TEST_CASE("weights beyond the limit lie beside the model, and are read from there") {
  const TemporaryFolder folder;
  const run::ModelSet models = make_sample(sample_model("shared"));
  const fs::path whole = folder / "whole.onnx", divided = folder / "divided.onnx";
  CHECK(write_model(whole, models, "onnx") == std::vector{whole});
  CHECK(write_model(divided, models, "onnx", {.most_onnx_bytes = 1000}) ==
        std::vector{divided, folder / "divided.onnx.data"});
  CHECK(fs::file_size(divided) < fs::file_size(whole));
  CHECK(read_model(divided).models.members[0].parameters == read_model(whole).models.members[0].parameters);
}
