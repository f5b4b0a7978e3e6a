// Files of PyTorch's state dicts. compare_weights.py compares every network of torchvision with torchvision.
#include "interop/format.hpp"

#include "convoke/core/checksum.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/zoo.hpp"
#include "interop/safetensors/names.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace convoke::interop;

namespace {

// safetensors.torch.save({"a.weight": [[1, 2], [3, 4]] in fp32, "a.bias": [0.5, -1] in fp16})
const std::string kSaved(
    "\xa0\x00\x00\x00\x00\x00\x00\x00"
    R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
    R"("a.bias":{"dtype":"F16","shape":[2],"data_offsets":[16,20]}}     )"
    "\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x38\x00\xbc",
    8 + 160 + 20);

std::string with_table(const std::string& table, const std::string& data = std::string(16, '\0')) {
  const std::uint64_t length = table.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + table + data;
}

run::ModelSet random_model(const nn::Graph& graph, float first = 0.5F) {
  run::ModelSet models{.description = {.graph = graph, .normalization = {}, .class_names = {}},
                       .members = {}};
  std::vector<float>& values = models.members.emplace_back().parameters;
  values.resize(engine::canonical_values(engine::canonical_parameters(graph)));
  std::iota(values.begin(), values.end(), first);
  return models;
}

std::vector<std::string> names_of(const std::string& zoo) {
  std::vector<std::string> names;
  const std::vector<Naming> namings = state_dict_names(nn::make_zoo_model(zoo));
  for (const StateEntry& entry : namings.front().entries) {
    names.push_back(entry.name + " " + entry.shape.to_string());
  }
  return names;
}

std::uint32_t checksum_of(const Naming& naming) {
  std::vector<std::string> lines;
  for (const StateEntry& entry : naming.entries) lines.push_back(entry.name + " " + entry.shape.to_string());
  std::sort(lines.begin(), lines.end());
  const std::string text = join(lines, "\n");
  return crc32(std::as_bytes(std::span(text)));
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("a file of the safetensors library is read") {
  const TemporaryFolder folder;
  write_file(folder.path() / "a.safetensors", kSaved);
  nn::Graph graph(nn::ValueSpec{2});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 2}}), {0}, "a");
  const run::InitialWeights weights = read_weights(folder.path() / "a.safetensors", graph);
  CHECK(weights.values == std::vector<float>{1, 2, 3, 4, 0.5, -1});
  CHECK(weights.describe() == "2 of 2 parameters, converted from float16");
}

TEST_CASE("networks of torchvision have torchvision's names and shapes") {
  CHECK(has(names_of("resnet18"), "layer2.0.downsample.1.running_var (128)"));
  CHECK(has(names_of("resnet18"), "fc.weight (1000, 512)"));
  CHECK(has(names_of("vgg16-bn"), "classifier.6.bias (1000)"));
  CHECK(has(names_of("mobilenet-v3-small"), "features.1.block.1.fc1.weight (8, 16, 1, 1)"));
  CHECK(has(names_of("convnext-tiny"), "features.1.0.layer_scale (96, 1, 1)"));
  CHECK(has(names_of("convnext-tiny"), "features.1.0.block.3.weight (384, 96)"));
}

TEST_CASE("ConvNeXt is also read under timm's names") {
  const std::vector<Naming> namings = state_dict_names(nn::make_zoo_model("convnext-tiny"));
  REQUIRE(namings[1].scheme == "timm");
  const auto& entries = namings[1].entries;
  CHECK(entries.front().name == "stem.0.weight");
  CHECK(std::any_of(entries.begin(), entries.end(),
                    [](const StateEntry& e) { return e.name == "stages.3.blocks.2.mlp.fc2.weight"; }));
  CHECK(entries.back().name == "head.fc.bias");
}

TEST_CASE("EfficientNet-Lite has the names and shapes of timm and of efficientnet_pytorch") {
  // zlib.crc32("\n".join(sorted(f"{k} {tuple(v.shape)}".replace(",)", ")") for k, v in m.state_dict().items()
  //                              if not k.endswith("num_batches_tracked"))).encode()), of
  // timm.create_model("tf_efficientnet_lite0") (timm 1.0.31), and of
  // EfficientNet.from_name("efficientnet-lite0") in efficientnet_lite_pytorch 0.1.0, whose names are those of
  // efficientnet_pytorch
  struct Names {
    const char* zoo;
    std::uint32_t timm, pytorch;
  };
  const Names all[] = {
      {"efficientnet-lite0", 0x120c7785, 0x92f5b55f}, {"efficientnet-lite1", 0x4330df82, 0x4e4fe611},
      {"efficientnet-lite2", 0xaeac50fb, 0xca8acd54}, {"efficientnet-lite3", 0xe53334e2, 0x221c3bee},
      {"efficientnet-lite4", 0xef689c42, 0x9de40276},
  };
  for (const Names& names : all) {
    CAPTURE(names.zoo);
    const std::vector<Naming> namings = state_dict_names(nn::make_zoo_model(names.zoo));
    REQUIRE(namings.size() == 3);
    CHECK(namings[0].scheme == "timm");
    CHECK(checksum_of(namings[0]) == names.timm);
    CHECK(namings[1].scheme == "efficientnet_pytorch");
    CHECK(checksum_of(namings[1]) == names.pytorch);
  }
}

TEST_CASE("weights written as safetensors read back bit for bit") {
  const TemporaryFolder folder;
  for (const char* zoo : {"resnet20", "mobilenet-v3-small", "squeezenet1.1"}) {
    const nn::Graph graph = nn::make_zoo_model(zoo, {.input = {}, .classes = 3});
    const run::ModelSet models = random_model(graph);
    write_model(folder.path() / "w.safetensors", models, "safetensors");
    const run::InitialWeights weights = read_weights(folder.path() / "w.safetensors", graph);
    CHECK(weights.values == models.members[0].parameters);
    CHECK(weights.initialized.empty());
    CHECK(weights.unused.empty());
  }
}

TEST_CASE("the weight of a transposed convolution has PyTorch's order of channels in the file") {
  // torch.nn.ConvTranspose2d(C, filters, (1, 2), groups=groups).weight: (C, filters / groups, 1, 2)
  struct Case {
    std::int64_t channels, filters, groups;
    const char* shape;
    std::vector<float> written;
  };
  const TemporaryFolder folder;
  const auto file = folder.path() / "w.safetensors";
  for (const auto& [channels, filters, groups, shape, written] :
       {Case{2, 2, 1, "[2,2,1,2]", {0, 1, 4, 5, 2, 3, 6, 7}},
        Case{3, 2, 1, "[3,2,1,2]", {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}},
        Case{4, 4, 2, "[4,2,1,2]", {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}}}) {
    CAPTURE(channels, groups);
    nn::Graph graph(Shape{channels, 3, 3});
    graph.add(nn::make_layer({{"layer", "conv2d_transpose"},
                              {"filters", filters},
                              {"kernel", Value::Array{1, 2}},
                              {"groups", groups},
                              {"bias", false}}),
              {0}, "up");
    const run::ModelSet models = random_model(graph, 0);
    write_model(file, models, "safetensors");
    const std::string bytes = bytes_of(file);
    CHECK_THAT(bytes, Contains(std::string("\"shape\":") + shape) && Contains("\"producer\":\"convoke\""));
    std::vector<float> stored(written.size());
    const std::size_t size = stored.size() * sizeof(float);
    std::memcpy(stored.data(), bytes.data() + bytes.size() - size, size);
    CHECK(stored == written);
    CHECK(read_weights(file, graph).values == models.members[0].parameters);
    if (channels == filters) continue;
    write_file(file, with_table(R"({"up.weight":{"dtype":"F32","shape":[2,3,1,2],"data_offsets":[0,48]}})",
                                std::string(48, '\0')));
    CHECK_THAT(hint_of([&] { read_weights(file, graph); }),
               Contains("In the model: up.weight (3, 2, 1, 2), in the file (2, 3, 1, 2)"));
  }
}

TEST_CASE("a head with other classes is initialized, and a wrapper's prefix is ignored") {
  const TemporaryFolder folder;
  std::string table = R"({"module.a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
  write_file(folder.path() / "w.safetensors", with_table(table));
  nn::Graph graph(nn::ValueSpec{2});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 2}, {"bias", false}}), {0}, "a");
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 5}}), {1}, "b");
  CHECK(read_weights(folder.path() / "w.safetensors", graph).describe() ==
        "1 of 3 parameters, whose names begin with \"module.\" in the file; initialized: b.weight, b.bias");
}

TEST_CASE("damaged safetensors are refused with the tensor's name") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "bad.safetensors";
  nn::Graph graph(nn::ValueSpec{2});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 2}}), {0}, "a");
  const auto reason = [&](const std::string& bytes) {
    write_file(file, bytes);
    return error_of([&] { read_weights(file, graph); });
  };
  CHECK_THAT(reason(with_table(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,15]}})")),
             Contains("tensor a: (2, 2) of F32 does not fit bytes 0 to 15 of 16"));
  CHECK_THAT(reason(with_table(R"({"a":{"dtype":"F32","shape":[2,-2],"data_offsets":[0,16]}})")),
             Contains("tensor a"));
  CHECK_THAT(
      reason(with_table(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})")),
      Contains("is not the shape of an array"));
  CHECK_THAT(reason(with_table(R"({"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})")),
             Contains("numbers of type F8_E4M3"));
  CHECK_THAT(reason(with_table(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                               R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})")),
             Contains("tensors a and b overlap"));
  CHECK_THAT(reason(with_table(R"({"a":{"dtype":"F32"}})")), Contains("lacks dtype, shape or data_offsets"));
  CHECK_THAT(reason(with_table("{" + std::string(5000, '[') + "}")), Contains("is not JSON"));
  for (std::size_t length = 9; length < kSaved.size(); length += 7) {
    CHECK(!reason(kSaved.substr(0, length)).empty());
  }
}

TEST_CASE("of two copies of the weights, the prefix chooses one") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "w.safetensors";
  std::string data(32, '\0');
  data.replace(16, 4, std::string("\0\0\x80?", 4));  // 1
  write_file(file, with_table(R"({"model.a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                              R"("ema.net.a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]}})",
                              data));
  nn::Graph graph(nn::ValueSpec{2});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 2}, {"bias", false}}), {0}, "a");
  CHECK_THAT(error_of([&] { read_weights(file, graph); }),
             Contains("has 2 copies of these weights, under the prefixes \"ema.net.\", \"model.\""));
  const auto first_of = [&](const char* prefix) {
    const run::InitialWeights weights = read_weights(file, graph, {.zoo = {}, .prefix = prefix});
    CHECK(weights.unused.empty());
    return weights.values[0];
  };
  CHECK(first_of("model.") == 0);
  CHECK(first_of("ema.net") == 1);
  CHECK_THAT(error_of([&] { read_weights(file, graph, {.zoo = {}, .prefix = "other."}); }),
             Contains("no names of this network behind the prefix \"other.\""));

  // The fuller copy is taken, and the rest is named.
  write_file(file, with_table(R"({"backbone.a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                              R"("head.a.bias":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})",
                              std::string(24, '\0')));
  CHECK_THAT(error_of([&] { read_weights(file, graph); }),
             Contains("has 1 weight that the network lacks") && Contains("not used: head.a.bias"));
  CHECK(read_weights(file, graph, {.partial = true}).describe() ==
        "1 of 1 parameters, whose names begin with \"backbone.\" in the file; not used: head.a.bias");
}

TEST_CASE("weights in several files are read by their index") {
  const TemporaryFolder folder;
  const auto index = folder.path() / "model.safetensors.index.json";
  write_file(folder.path() / "1.safetensors",
             with_table(R"({"a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})"));
  write_file(
      folder.path() / "2.safetensors",
      with_table(R"({"a.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string(8, '?')));
  nn::Graph graph(nn::ValueSpec{2});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 2}}), {0}, "a");
  const auto reason = [&](const std::string& map) {
    write_file(index, R"({"metadata": {"total_size": 24}, "weight_map": {)" + map + "}}");
    return error_of([&] { read_weights(index, graph); });
  };
  CHECK(reason(R"("a.weight": "1.safetensors", "a.bias": "2.safetensors")") == "");
  CHECK(read_weights(index, graph).describe() == "2 of 2 parameters");
  CHECK_THAT(reason(R"("a.weight": "1.safetensors", "b.bias": "2.safetensors")"),
             Contains("2.safetensors: lacks tensor b.bias"));
  CHECK_THAT(reason(R"("a.weight": "../1.safetensors")"), Contains("which is no file beside it"));
  CHECK_THAT(reason(R"("a.weight": "3.safetensors")"), Contains("3.safetensors: no such file"));
}
