#include <random>

#include "convoke/core/protobuf.hpp"
#include "convoke/engine/canonical.hpp"
#include "interop/format.hpp"
#include "run_on.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke;
using namespace convoke::interop;

namespace {

const fs::path kFiles = source_path("test/interop/onnx");

Outcome outcome_of(const run::ModelSet& models, const hdf5::Group& golden, bool training = false) {
  return run_on(models.description.graph, models.members[0].parameters, golden, training);
}

std::vector<double> doubles(const hdf5::Group& group, const std::string& name) {
  const std::vector<float> values = group.read<float>(name);
  return {values.begin(), values.end()};
}

// Reads a model of files/, whose outputs must be those of onnxruntime.
Imported read_golden(const std::string& name, double tolerance = 1e-5) {
  const hdf5::File file = hdf5::File::open((kFiles / "golden.h5").string());
  const hdf5::Group golden = file.group(name);
  Imported imported = read_onnx(kFiles / (name + ".onnx"), {});
  CHECK(difference(outcome_of(imported.models, golden).output, doubles(golden, "output")) < tolerance);
  return imported;
}

// Returns our gradient of a parameter of PyTorch's state dict; null if it has another name or form.
const std::vector<double>* gradient_of(const Outcome& step, std::string name) {
  for (const auto& [theirs, ours] :
       {std::pair{"", ""}, std::pair{".weight", ".gamma"}, std::pair{".bias", ".beta"}}) {
    const std::string ending = theirs;
    if (!name.ends_with(ending)) continue;
    const auto found = step.gradients.find(name.substr(0, name.size() - ending.size()) + ours);
    if (found != step.gradients.end()) return &found->second;
  }
  return nullptr;
}

// --- files made here ---

using protobuf::field;

std::string dims_field(std::uint32_t number, const std::vector<std::int64_t>& dims) {
  std::string bytes;
  for (const std::int64_t dim : dims) bytes += field(number, dim);
  return bytes;
}

std::string value_info(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::string shape;
  for (const std::int64_t dim : dims) shape += field(1, dim < 0 ? std::string() : field(1, dim));
  const std::string tensor = field(1, std::int64_t{1}) + field(2, shape);
  return field(1, name) + field(2, field(1, tensor));
}

std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                 const std::string& attributes = {}) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += field(1, input);
  return field(1, bytes + field(2, output) + field(3, "the " + op) + field(4, op) + attributes);
}

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims,
                   const std::vector<float>& values) {
  const std::string raw(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  return field(5, dims_field(1, dims) + field(2, std::int64_t{1}) + field(8, name) + field(9, raw));
}

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, std::size_t count) {
  return floats(name, dims, std::vector<float>(count, 0.5F));
}

std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::string packed;
  for (const std::int64_t value : values) packed += field(7, value);  // not packed, as the format allows
  return field(5, field(1, count) + field(2, std::int64_t{7}) + field(8, name) + packed);
}

std::string number(const std::string& name, float value) {
  const std::string raw(reinterpret_cast<const char*>(&value), 4);
  return field(5, field(2, std::int64_t{1}) + field(8, name) + field(9, raw));
}

std::string setting(const std::string& name, std::int64_t value) {
  return field(5, field(1, name) + field(3, value) + field(20, std::int64_t{2}));
}

std::string real_setting(const std::string& name, float value) {
  return field(5, field(1, name) + field(2, value) + field(20, std::int64_t{1}));
}

std::string list_attribute(const std::string& name, const std::vector<std::int64_t>& list) {
  return field(5, field(1, name) + dims_field(8, list) + field(20, std::int64_t{7}));
}
std::string axes_attribute(const std::vector<std::int64_t>& axes) { return list_attribute("axes", axes); }

struct Model {
  std::string graph;
  std::vector<std::int64_t> input{-1, 2, 4, 4};
  std::int64_t opset = 17;
  std::string output = "y";

  std::string bytes() const {
    const std::string whole = graph + field(11, value_info("x", input)) + field(12, value_info(output, {}));
    return field(1, std::int64_t{8}) + field(2, std::string_view("test")) + field(7, whole) +
           field(8, field(2, opset));
  }
};

class Folder {
 public:
  Imported read(const std::string& bytes, const ImportOptions& options = {}) const {
    write_file(file(), bytes);
    return read_onnx(file(), options);
  }
  std::string error(const std::string& bytes) const {
    return refusal_of([&] { read(bytes); });
  }
  fs::path file() const { return folder.path() / "model.onnx"; }
  TemporaryFolder folder;
};

std::vector<std::string> layers_of(const Imported& imported) {
  std::vector<std::string> layers;
  for (const nn::Node& one : imported.models.description.graph.nodes())
    if (one.layer != nullptr) layers.emplace_back(one.layer->type());
  return layers;
}

std::vector<double> output_of(const Imported& imported, const std::vector<float>& batch_input,
                              std::int64_t samples = 1) {
  const nn::Graph& graph = imported.models.description.graph;
  Batch batch(graph, samples);
  batch.input = batch_input;
  Experiment experiment(graph, {.micro_batch = samples, .training = false});
  engine::pack(engine::canonical_parameters(graph), *experiment.layout,
               imported.models.members.front().parameters, experiment.parameters.span());
  return experiment.run(batch).output;
}

// exp(x - m) / sum, where m and the sum are reshaped to (N, 1) or to `rest`, as TensorFlow writes Flax'
// softmax
std::string softmax_formula(std::int64_t rest) {
  return integers("zero", {0}) + integers("one", {1}) + integers("rest", {rest}) +
         number("low", -std::numeric_limits<float>::infinity()) + node("Shape", {"x"}, "dims") +
         node("Slice", {"dims", "zero", "one"}, "n") +
         node("Concat", {"n", "rest"}, "s", setting("axis", 0)) +
         node("ReduceMax", {"x"}, "a", setting("keepdims", 0) + axes_attribute({1})) +
         node("Max", {"low", "a"}, "b") + node("Reshape", {"b", "s"}, "c") + node("Expand", {"c", "s"}, "d") +
         node("Sub", {"x", "d"}, "e") + node("Exp", {"e"}, "f") +
         node("ReduceSum", {"f", "one"}, "g", setting("keepdims", 0)) + node("Reshape", {"g", "s"}, "h") +
         node("Expand", {"h", "s"}, "i") + node("Div", {"f", "i"}, "y");
}

// (x - mean) / sqrt(max(mean of squares - mean^2, 0) + epsilon), the means as sums times `share`
std::string norm_formula(float share, std::int64_t rest, float epsilon) {
  const std::string no_axis = setting("keepdims", 0);
  return integers("zero", {0}) + integers("one", {1}) + integers("rest", {rest}) + number("share", share) +
         number("epsilon", epsilon) + number("low", 0) + node("Shape", {"x"}, "dims") +
         node("Slice", {"dims", "zero", "one"}, "n") +
         node("Concat", {"n", "rest"}, "s", setting("axis", 0)) +
         node("ReduceSum", {"x", "one"}, "a", no_axis) + node("Mul", {"a", "share"}, "mean") +
         node("Mul", {"x", "x"}, "b") + node("ReduceSum", {"b", "one"}, "c", no_axis) +
         node("Mul", {"c", "share"}, "d") + node("Mul", {"mean", "mean"}, "e") +
         node("Sub", {"d", "e"}, "f") + node("Max", {"f", "low"}, "g") + node("Reshape", {"g", "s"}, "h") +
         node("Expand", {"h", "s"}, "i") + node("Add", {"i", "epsilon"}, "j") + node("Sqrt", {"j"}, "k") +
         node("Reciprocal", {"k"}, "l") + node("Reshape", {"mean", "s"}, "m") +
         node("Expand", {"m", "s"}, "o") + node("Sub", {"x", "o"}, "p") + node("Mul", {"p", "l"}, "y");
}

}  // namespace

TEST_CASE("ONNX files of PyTorch and Keras give the outputs of onnxruntime and the gradients of PyTorch") {
  const hdf5::File golden = hdf5::File::open((kFiles / "golden.h5").string());
  for (const char* name :
       {"excite", "old_opset", "shuffle", "upsample", "interpolate", "interpolate_script", "convnext", "lstm",
        "gru", "attention", "vision", "functions", "strided", "response_norm"}) {
    INFO(name);
    const hdf5::Group group = golden.group(name);
    const Imported imported = read_golden(name);
    CHECK_NOTHROW(run::require_storable(imported.models.description));
    const Outcome step = outcome_of(imported.models, group, true);
    CHECK(step.loss / 3 == Approx(group.read<float>("loss")[0]).epsilon(1e-5));
    const hdf5::Group gradients = group.group("gradients");
    std::size_t compared = 0;
    for (const std::string& parameter : gradients.children()) {
      const std::vector<double>* ours = gradient_of(step, parameter);
      if (ours == nullptr) continue;
      INFO(parameter);
      CHECK(difference(*ours, doubles(gradients, parameter), 1e-3) < 1e-4);
      ++compared;
    }
    CHECK(compared >= 2);
  }
}

TEST_CASE("transposed convolutions pad automatically as onnxruntime does") { read_golden("transposed"); }

TEST_CASE("weights that the file standardizes are computed once, which a note says") {
  const Imported imported = read_golden("standardized");
  CHECK_THAT(join(imported.notes), Contains("training does not standardize them again"));
}

TEST_CASE("an input that only a branch reads is the model's input") {
  const Folder folder;
  const auto branch = [](const char* name, const std::string& op, const std::string& input) {
    return field(5, field(1, std::string_view(name)) +
                        field(6, node(op, {input}, name) + field(12, value_info(name, {}))) +
                        field(20, std::int64_t{5}));
  };
  const std::string yes = field(
      5, field(2, std::int64_t{9}) + field(8, std::string_view("yes")) + field(9, std::string(1, '\1')));
  const Model model{
      field(11, value_info("other", {-1, 2})) + yes +
      node("If", {"yes"}, "y", branch("then_branch", "Relu", "x") + branch("else_branch", "Tanh", "other"))};
  const Imported imported = folder.read(model.bytes());
  CHECK(imported.models.description.graph.input_shape() == Shape{2, 4, 4});
  CHECK(imported.models.description.graph.nodes().back().layer->type() == "relu");
}

TEST_CASE("batch normalization in training mode is said to use the running statistics") {
  const Folder folder;
  const auto bytes = [](const std::string& attributes) {
    return Model{floats("s", {2}, 2) + node("BatchNormalization", {"x", "s", "s", "s", "s"}, "y", attributes)}
        .bytes();
  };
  CHECK(folder.read(bytes("")).notes.empty());
  const Imported imported = folder.read(bytes(setting("training_mode", 1)));
  REQUIRE(imported.notes.size() == 1);
  CHECK_THAT(imported.notes[0], Contains("was exported in training mode"));
}

TEST_CASE("a channels-last model becomes channels first, with its names and normalization") {
  const Imported imported = read_golden("channels_last");
  const run::ModelDescription& model = imported.models.description;
  CHECK(layers_of(imported) ==
        std::vector<std::string>{"conv2d", "relu", "global_average_pool", "dense", "softmax"});
  CHECK(model.class_names == std::vector<std::string>{"ant", "bee", "cat"});
  CHECK(model.normalization.scale == std::vector<float>{0.5F, 0.25F});
  CHECK(model.normalization.shift == std::vector<float>{0, -1});
}

TEST_CASE("a mean over the tokens that are not 0 equals onnxruntime's") {
  const Imported imported = read_golden("masked");
  CHECK(imported.models.description.graph.input_shape().type == nn::ValueType::kToken);
}

TEST_CASE("a quantized model is read without its rounding, but with its ranges") {
  // The rounding of two activations in 8 bits is left out. Without the ReLU, which only the range of the
  // first holds, the difference is above 1.
  const Imported imported = read_golden("quantized", 0.02);
  CHECK_THAT(join(imported.notes), Contains("the rounding of its activations is left out"));
}

TEST_CASE("weights keep the names of the state dict") {
  const nn::Graph graph = read_onnx(kFiles / "excite.onnx", {}).models.description.graph;
  for (const char* name : {"conv", "bn", "gate", "head"}) CHECK_NOTHROW(graph.find(name));
}

TEST_CASE("a reshape to the batch of the file follows any batch") {
  const Folder folder;
  Model model{.graph = integers("shape", {4, 32}) + node("Reshape", {"x", "shape"}, "a") +
                       floats("w", {32, 3}, 96) + node("MatMul", {"a", "w"}, "y"),
              .input = {4, 2, 4, 4}};
  CHECK(folder.read(model.bytes()).models.description.graph.output_shape() == Shape{3});
}

TEST_CASE("an open size comes from the options, or is asked for") {
  const Folder folder;
  const Model model{.graph = floats("w", {3, 2, 3, 3}, 54) + node("Conv", {"x", "w"}, "a") +
                             node("GlobalAveragePool", {"a"}, "b") + node("Flatten", {"b"}, "y"),
                    .input = {-1, 2, -1, -1}};
  CHECK_THAT(folder.error(model.bytes()), Contains("--input C,H,W"));
  CHECK(folder.read(model.bytes(), {.input = {2, 9, 7}}).models.description.graph.input_shape() ==
        Shape{2, 9, 7});
}

TEST_CASE("constants of a given shape in the form before opset 9") {
  const Folder folder;
  const std::string filled =
      node("ConstantFill", {"shape"}, "half", setting("input_as_shape", 1) + real_setting("value", 0.5F));
  const Model model{.graph = node("Shape", {"x"}, "shape") + filled + node("Add", {"x", "half"}, "y"),
                    .input = {-1, 6},
                    .opset = 8};
  CHECK(output_of(folder.read(model.bytes()), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2) ==
        std::vector<double>{1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5});
}

TEST_CASE("layers share an initializer only if both read its elements in the same order") {
  const Folder folder;
  const auto twice = [&](const std::string& second) {
    const Model model{.graph = floats("w", {2, 2}, {1, 2, 3, 4}) + node("MatMul", {"x", "w"}, "a") + second,
                      .input = {-1, 2}};
    return folder.read(model.bytes());
  };
  const auto shares = [](const Imported& imported) {
    const nn::Graph& graph = imported.models.description.graph;
    return graph.shares(graph.nodes().back());
  };
  const Imported tied = twice(node("MatMul", {"a", "w"}, "y"));
  CHECK(shares(tied));
  CHECK(output_of(tied, {1, 0}) == std::vector<double>{7, 10});
  for (const std::string& second :
       {node("Gemm", {"a", "w"}, "y", setting("transB", 1)),
        node("Transpose", {"w"}, "t", list_attribute("perm", {1, 0})) + node("MatMul", {"a", "t"}, "y")}) {
    const Imported transposed = twice(second);
    CHECK(!shares(transposed));
    CHECK(output_of(transposed, {1, 0}) == std::vector<double>{5, 11});
  }
}

TEST_CASE("a size of the batch on another axis is refused, and so is a bias along the batch") {
  const Folder folder;
  const std::string batch = integers("zero", {0}) + integers("one", {1}) + node("Shape", {"x"}, "dims") +
                            node("Slice", {"dims", "zero", "one"}, "n");
  const Model part{.graph = batch + node("Slice", {"x", "zero", "n", "one"}, "y"), .input = {-1, 6}};
  CHECK_THAT(folder.error(part.bytes()), Contains("takes a part that depends on the size of the batch"));
  const Model size{.graph = batch + integers("four", {4}) +
                            node("Concat", {"n", "four", "n", "four"}, "sizes", setting("axis", 0)) +
                            node("Resize", {"x", "", "", "sizes"}, "y"),
                   .input = {-1, 4, 4, 4}};
  CHECK_THAT(folder.error(size.bytes()), Contains("has a size that depends on the size of the batch"));
  const Model bias{
      .graph = floats("w", {6, 3}, 18) + floats("b", {3, 1}, 3) + node("Gemm", {"x", "w", "b"}, "y"),
      .input = {-1, 6}};
  CHECK_THAT(folder.error(bias.bytes()), Contains("its bias (3, 1) has not one number for each"));
  for (const char* op : {"Add", "Concat"}) {  // of a batch of 3 and a constant for each of its samples
    const std::string graph =
        floats("each", {3, 1, 4}, 12) + node(op, {"each", "x"}, "y", setting("axis", 1));
    CHECK_THAT(folder.error(Model{.graph = graph, .input = {3, 2, 4}}.bytes()),
               Contains("dynamic batch axis"));
  }
}

TEST_CASE("a bias that depends on the size of the batch is refused") {
  const Folder folder;
  for (const std::int64_t units : {1, 3}) {
    const Model model{.graph = floats("w", {6, units}, static_cast<std::size_t>(6 * units)) +
                               integers("zero", {0}) + integers("one", {1}) + node("Shape", {"x"}, "dims") +
                               node("Slice", {"dims", "zero", "one"}, "n") +
                               node("Gemm", {"x", "w", "n"}, "y"),
                      .input = {-1, 6}};
    CHECK_THAT(folder.error(model.bytes()), Contains("its bias depends on the size of the batch"));
  }
}

TEST_CASE("what Convoke cannot import is named") {
  const Folder folder;
  const auto of = [](const std::string& graph, std::int64_t opset = 17) {
    return Model{.graph = graph, .opset = opset}.bytes();
  };
  CHECK_THAT(folder.error(of(node("LpPool", {"x"}, "y"))),
             Contains("model.onnx: node \"the LpPool\" (LpPool)") && Contains("average_pool"));
  CHECK_THAT(folder.error(of(node("Loop", {"x"}, "y"))), Contains("Loop") && Contains(".keras"));
  for (const char* op : {"QGemm", "QLinearMatMul", "DynamicQuantizeLSTM", "MatMulIntegerToFloat",
                         "QAttention", "QEmbedLayerNormalization", "MatMulNBits"})
    CHECK_THAT(folder.error(of(node(op, {"x"}, "y"))), Contains("quantized numbers") && Contains("QDQ"));
  const Model table{.graph = integers("t", {1, 2, 3}) + node("Gather", {"t", "x"}, "y"), .input = {-1, 4}};
  CHECK_THAT(folder.error(table.bytes()), Contains("a table of whole numbers") && Contains("QDQ"));
  CHECK_THAT(folder.error(of(node("Relu", {"x"}, "y"), 99)), Contains("opset 99"));
  CHECK_THAT(folder.error(of(node("Relu", {"x"}, "y"), 6)), Contains("opset 6"));
  CHECK_THAT(folder.error(of(node("MatMul", {"x", "x"}, "y"))), Contains("attention"));
  const Model vectors{.graph = node("Attention", {"x", "x", "x"}, "y"), .input = {-1, 6}, .opset = 23};
  CHECK_THAT(folder.error(vectors.bytes()),
             Contains("\"the Attention\" (Attention): is attention of values with 2, 2 and 2 axes"));
  CHECK_THAT(folder.error(of(node("MatMul", {"x", "x"}, "a") + node("Softmax", {"a"}, "b") +
                             node("Flatten", {"x"}, "c") + node("MatMul", {"b", "c"}, "y"))),
             Contains("is attention of values with 4, 4 and 2 axes"));
  CHECK_THAT(
      folder.error(of(node("Attention", {"x", "x", "x", "mask"}, "y") + floats("mask", {4, 4}, 16), 23)),
      Contains("has no mask"));
  CHECK_THAT(folder.error(of(node("Relu", {"a"}, "y"))), Contains("no node gives the value \"a\""));
  CHECK_THAT(folder.error(of(node("Relu", {"b"}, "a") + node("Relu", {"a"}, "b") + node("Relu", {"a"}, "y"))),
             Contains("cycle"));
  CHECK_THAT(folder.error(of(node("Relu", {"x"}, "y") + node("Tanh", {"x"}, "y"))),
             Contains("another node gives"));
  CHECK_THAT(folder.error(of(floats("w", {3, 5, 3, 3}, 135) + node("Conv", {"x", "w"}, "y"))),
             Contains("weight"));
  const std::string more = field(11, value_info("z", {1, 2}));
  CHECK_THAT(folder.error(of(node("Add", {"x", "z"}, "y") + more)), Contains("2 inputs: z, x"));
}

TEST_CASE("a formula becomes a layer only if all of its constants and shapes are those of the layer") {
  const Folder folder;
  const auto vector = [](const std::string& graph) {
    return Model{.graph = graph, .input = {-1, 4}}.bytes();
  };
  using Layers = std::vector<std::string>;
  CHECK(layers_of(folder.read(vector(softmax_formula(1)))) == Layers{"softmax"});
  CHECK_THAT(folder.error(vector(softmax_formula(4))), Contains("reshape"));
  CHECK(layers_of(folder.read(vector(norm_formula(0.25F, 1, 1e-6F)))) == Layers{"layer_norm"});
  CHECK_THAT(folder.error(vector(norm_formula(0.2F, 1, 1e-6F))), Contains("another number"));
  CHECK_THAT(folder.error(vector(norm_formula(0.25F, 4, 1e-6F))), Contains("reshape"));
  CHECK_THAT(folder.error(vector(norm_formula(0.25F, 1, -1))), Contains("epsilon -1"));
  const auto swish = [&](float six) {
    return vector(number("three", 3) + number("zero", 0) + number("top", 6) + number("six", six) +
                  node("Add", {"x", "three"}, "a") + node("Clip", {"a", "zero", "top"}, "b") +
                  node("Mul", {"x", "b"}, "c") + node("Div", {"c", "six"}, "y"));
  };
  CHECK(layers_of(folder.read(swish(6))) == Layers{"hard_swish"});
  CHECK(layers_of(folder.read(swish(6.02F))) != Layers{"hard_swish"});
}

TEST_CASE("a Slice and a Gather take any indices that NumPy would") {
  const Folder folder;
  const std::vector<float> x{0, 1, 2, 3, 4, 5, 6};
  const auto sliced = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    const std::string graph = integers("start", {start}) + integers("end", {end}) + integers("axis", {-1}) +
                              integers("step", {step}) +
                              node("Slice", {"x", "start", "end", "axis", "step"}, "y");
    return output_of(folder.read(Model{.graph = graph, .input = {-1, 7}}.bytes()), x);
  };
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min(),
                         kLast = std::numeric_limits<std::int64_t>::max();
  using List = std::vector<double>;
  CHECK(sliced(-1, kFirst, -1) == List{6, 5, 4, 3, 2, 1, 0});  // x[..., ::-1]
  CHECK(sliced(kLast, kFirst, -3) == List{6, 3, 0});           // x[..., ::-3]
  CHECK(sliced(4, 1, -1) == List{4, 3, 2});                    // x[..., 4:1:-1]
  CHECK(sliced(-2, -5, -2) == List{5, 3});                     // x[..., -2:-5:-2]
  CHECK(sliced(1, kLast, 2) == List{1, 3, 5});                 // x[..., 1::2]
  CHECK(sliced(0, kLast, 2) == List{0, 2, 4, 6});              // x[..., ::2]
  CHECK(sliced(2, 6, 3) == List{2, 5});                        // x[..., 2:6:3]
  CHECK(sliced(-100, 2, 1) == List{0, 1});                     // x[..., -100:2]
  const std::string gathered = integers("flat", {0, 1, -1, 2}) + integers("two", {2, 2}) +
                               node("Reshape", {"flat", "two"}, "indices") +
                               node("Gather", {"x", "indices"}, "a", setting("axis", 1)) +
                               node("Flatten", {"a"}, "y");
  CHECK(output_of(folder.read(Model{.graph = gathered, .input = {-1, 7}}.bytes()), x) ==
        List{0, 1, 6, 2});  // x[..., [[0, 1], [-1, 2]]]
}

TEST_CASE("constants are split, squeezed, measured, cast and reduced as onnxruntime does") {
  const Folder folder;
  const auto model = [&](const std::string& graph) {
    return Model{.graph = graph + node("Cast", {"c"}, "d", setting("to", 1)) + node("Add", {"x", "d"}, "y"),
                 .input = {-1, 5},
                 .opset = 18}
        .bytes();
  };
  const auto of = [&](const std::string& graph) {
    return output_of(folder.read(model(graph)), std::vector<float>(5, 0.0F));
  };
  using List = std::vector<double>;
  const std::string five = integers("five", {1, 2, 3, 4, 5});
  const std::string halves =
      field(1, field(1, std::string_view("five")) + field(2, std::string_view("a")) +
                   field(2, std::string_view("b")) + field(4, std::string_view("Split")));
  CHECK(of(five + halves + node("Concat", {"b", "a"}, "c", setting("axis", 0))) == List{4, 5, 1, 2, 3});
  CHECK(of(five + node("Unsqueeze", {"five", "zero"}, "row") + integers("zero", {0}) +
           node("Shape", {"row"}, "c", setting("start", 1))) == List(5, 5));
  CHECK(of(floats("half", {5}, 5) + node("Cast", {"half"}, "c", setting("to", 9))) == List(5, 1));
  CHECK(of(five + node("Cast", {"five"}, "c", setting("to", 9))) == List(5, 1));
  CHECK(of(integers("a", {7, -7, 7, -7, 5}) + integers("b", {3, 3, -3, -3, 5}) +
           node("Mod", {"a", "b"}, "c", setting("fmod", 1))) == List{1, -1, 1, -1, 0});
  CHECK(of(floats("half", {5}, 5) + node("ReduceSum", {"half"}, "c", setting("noop_with_empty_axes", 1))) ==
        List(5, 0.5));
  CHECK(of(integers("two", {2, 2, 2, 2, 2}) + node("CastLike", {"two", "x"}, "real") +
           node("Sqrt", {"real"}, "c")) == List(5, std::sqrt(2.0F)));
  CHECK(of(five + floats("half", {5}, 5) + node("CastLike", {"half", "five"}, "c")) == List(5, 0));
  CHECK(of(integers("three", {1, 2, 3}) + integers("times", {2}) + node("Tile", {"three", "times"}, "six") +
           integers("zero", {0}) + integers("end", {5}) + node("Slice", {"six", "zero", "end"}, "c")) ==
        List{1, 2, 3, 1, 2});
  CHECK_THAT(
      folder.error(model(five + integers("sizes", {2, 2}) +
                         field(1, field(1, std::string_view("five")) + field(1, std::string_view("sizes")) +
                                      field(2, std::string_view("a")) + field(2, std::string_view("c")) +
                                      field(4, std::string_view("Split"))))),
      Contains("takes 4 elements of 5"));
  CHECK_THAT(folder.error(model(five + integers("zero", {0}) + node("Squeeze", {"five", "zero"}, "c"))),
             Contains("removes axis 0 of (5)"));
}

TEST_CASE("comparisons, booleans and constants in any position") {
  const Folder folder;
  const std::vector<float> x{-1, 0.5F, 2, NAN};
  const auto of = [&](const std::string& graph) {
    return output_of(
        folder.read(
            Model{.graph = number("half", 0.5F) + number("two", 2) + graph, .input = {-1, 4}}.bytes()),
        x);
  };
  using List = std::vector<double>;
  const std::string to_float = node("Cast", {"a"}, "y", setting("to", 1));
  CHECK(of(node("Less", {"x", "half"}, "a") + to_float) == List{1, 0, 0, 0});
  CHECK(of(node("GreaterOrEqual", {"x", "half"}, "a") + to_float) == List{0, 1, 1, 0});
  CHECK(of(node("Greater", {"two", "x"}, "b") + node("Not", {"b"}, "a") + to_float) == List{0, 0, 1, 1});
  CHECK(of(node("Less", {"x", "half"}, "b") + node("Equal", {"x", "x"}, "c") + node("Or", {"b", "c"}, "a") +
           to_float) == List{1, 1, 1, 0});
  CHECK(of(node("Cast", {"x"}, "a", setting("to", 9)) + to_float) == List{1, 1, 1, 1});
  CHECK(of(node("Greater", {"x", "half"}, "a") + node("Where", {"a", "x", "half"}, "y")) ==
        List{0.5, 0.5, 2, 0.5});
  const std::string bases = floats("bases", {4}, 4);  // 0.5 each
  const List powers =
      of(number("low", -1) + node("Max", {"x", "low"}, "b") + bases + node("Pow", {"bases", "b"}, "y"));
  for (const char* op : {"Max", "Min"}) {  // as of onnxruntime
    CHECK(std::isnan(of(node(op, {"x", "two"}, "y"))[3]));
    CHECK(std::isnan(of(node(op, {"two", "x", "half"}, "y"))[3]));
  }
  CHECK(powers[0] == 2);
  CHECK(powers[2] == 0.25);
  CHECK(of(node("Div", {"two", "x"}, "y"))[0] == -2);
  CHECK_THAT(
      folder.error(Model{.graph = node("Cast", {"x"}, "y", setting("to", 7)), .input = {-1, 4}}.bytes()),
      Contains("rounds numbers"));
}

TEST_CASE("images (N, H, W, 1) are recognized by the reshape that tf2onnx puts in the place of a transpose") {
  const Folder folder;
  const auto sample_of = [&](const std::string& graph) {
    const Imported imported = folder.read(Model{.graph = graph, .input = {-1, 6, 5, 1}}.bytes());
    return imported.models.description.graph.input_shape();
  };
  CHECK(sample_of(integers("dims", {-1, 1, 6, 5}) + node("Reshape", {"x", "dims"}, "a") +
                  node("Relu", {"a"}, "y")) == Shape{1, 6, 5});
  CHECK(sample_of(node("Relu", {"x"}, "y")) == Shape{6, 5, 1});
}

TEST_CASE("the product of extents may have the batch as a factor") {
  const Folder folder;
  // The rows of (N, 2, 3) as tf2onnx takes them: reshaped to (2 N, 3) by a product of the first extents.
  const std::string graph =
      integers("zero", {0}) + integers("two", {2}) + integers("three", {3}) + integers("back", {-1, 6}) +
      node("Shape", {"x"}, "s") + node("Slice", {"s", "zero", "two"}, "free") +
      node("ReduceProd", {"free"}, "rows", setting("keepdims", 1) + axes_attribute({0})) +
      node("Concat", {"rows", "three"}, "to", setting("axis", 0)) + node("Reshape", {"x", "to"}, "a") +
      node("Softmax", {"a"}, "b", setting("axis", 1)) + node("Reshape", {"b", "back"}, "y");
  const Imported imported = folder.read(Model{.graph = graph, .input = {-1, 2, 3}}.bytes());
  const std::vector<double> softmax = output_of(imported, {1, 2, 3, 4, 5, 6});
  REQUIRE(softmax.size() == 6);
  CHECK(softmax[0] == Approx(0.09003057));  // scipy.special.softmax([1, 2, 3])
  CHECK(softmax[5] == Approx(0.66524096));
}

TEST_CASE("a LogSoftmax is left out only if it ends the network and is over all values of a sample") {
  const Folder folder;
  const auto read = [&](const std::string& graph, const std::vector<std::int64_t>& input) {
    return folder.read(Model{.graph = graph, .input = input}.bytes());
  };
  const auto close = [](const std::vector<double>& values, const std::vector<double>& expected) {
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]).epsilon(1e-5));
  };
  const std::vector<float> x{1, 2, 3, 5};
  const std::string rows = node("LogSoftmax", {"x"}, "a", setting("axis", 2)) + node("Flatten", {"a"}, "y");
  // scipy.special.log_softmax([[1, 2], [3, 5]], axis=1), and softmax([1, 2, 3, 5])
  close(output_of(read(rows, {-1, 2, 2}), x), {-1.313262, -0.313262, -2.126928, -0.126928});
  const std::string log = node("LogSoftmax", {"x"}, "a", setting("axis", 1));
  close(output_of(read(log + node("Exp", {"a"}, "y"), {-1, 4}), x),
        {0.0152194, 0.0413707, 0.1124572, 0.8309528});
  const std::string dims = integers("dims", {-1, 4, 1});
  const Imported last =
      read(dims + log + node("Relu", {"a"}, "b") + node("LogSoftmax", {"b"}, "c", setting("axis", 1)) +
               node("Reshape", {"c", "dims"}, "y"),
           {-1, 4});
  close(output_of(last, x), {0, 0, 0, 0});
  CHECK_THAT(join(last.notes), Contains("The final LogSoftmax is left out"));
}

TEST_CASE("Clip, Pad and LogSoftmax are exact, however large their numbers are") {
  const Folder folder;
  const auto of = [&](const std::string& graph, const std::vector<float>& x) {
    const std::vector<std::int64_t> input{-1, static_cast<std::int64_t>(x.size())};
    return output_of(folder.read(Model{.graph = graph, .input = input}.bytes()), x);
  };
  const auto clipped = [&](float low, float high) {
    return of(number("low", low) + number("high", high) + node("Clip", {"x", "low", "high"}, "y"),
              {-2.3F, 0.1F, 7});
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  using List = std::vector<double>;
  CHECK(clipped(-1e9F, 1e9F) == List{-2.3F, 0.1F, 7});
  CHECK(clipped(-1e9F, kInfinity) == List{-2.3F, 0.1F, 7});
  CHECK(clipped(-kInfinity, 1e9F) == List{-2.3F, 0.1F, 7});
  CHECK(clipped(0, 1e9F) == List{0, 0.1F, 7});
  CHECK(clipped(-0.5F, 0.75F) == List{-0.5, 0.1F, 0.75});
  CHECK(of(integers("pads", {0, 1, 0, 2}) + number("low", -1e9F) + node("Pad", {"x", "pads", "low"}, "y"),
           {-2.3F, 0.1F}) == List{-1e9, -2.3F, 0.1F, -1e9, -1e9});
  CHECK(of(node("LogSoftmax", {"x"}, "a", setting("axis", 1)) + node("Neg", {"a"}, "y"), {0, 200}) ==
        List{200, 0});
}

TEST_CASE("the output of a channels-last model may be channels first or channels last") {
  const Folder folder;
  const std::string first =
      node("Transpose", {"x"}, "a", list_attribute("perm", {0, 3, 1, 2})) + node("Relu", {"a"}, "y");
  const std::string last = first + node("Transpose", {"y"}, "z", list_attribute("perm", {0, 2, 3, 1}));
  for (const Model& model : {Model{.graph = first, .input = {-1, 5, 6, 3}},
                             Model{.graph = last, .input = {-1, 5, 6, 3}, .output = "z"}}) {
    const Imported imported = folder.read(model.bytes());
    CHECK(imported.models.description.graph.output_shape() == Shape{3, 5, 6});
    CHECK(layers_of(imported) == std::vector<std::string>{"relu"});
  }
}

TEST_CASE("states, windows and slopes that Convoke's layers do not have are refused") {
  const Folder folder;
  const std::string lstm = floats("w", {1, 4, 6}, 24) + floats("r", {1, 4, 1}, 4) +
                           integers("one", {1, 1, 1}) + integers("two", {1, 1, 2}) +
                           node("ConstantOfShape", {"one"}, "h") + node("ConstantOfShape", {"two"}, "c") +
                           node("LSTM", {"x", "w", "r", "", "", "h", "c"}, "y");
  CHECK_THAT(folder.error(Model{.graph = lstm, .input = {3, -1, 6}}.bytes()),
             Contains("has an initial state (1, 1, 2) for 1 units"));
  CHECK_THAT(folder.error(Model{.graph = node("LRN", {"x"}, "y", setting("size", 2))}.bytes()),
             Contains("even size"));
  CHECK_THAT(folder.error(Model{.graph = node("Celu", {"x"}, "y", real_setting("alpha", -1.0F))}.bytes()),
             Contains("has alpha = -1"));
  const auto resized = [](const std::string& centers) {
    const std::string mode = field(5, field(1, std::string_view("coordinate_transformation_mode")) +
                                          field(4, centers) + field(20, std::int64_t{3}));
    const std::string graph =
        floats("by", {4}, {1, 1, 1.5F, 1.2F}) + node("Resize", {"x", "", "by"}, "y", mode);
    return Model{.graph = graph, .input = {-1, 2, 5, 4}}.bytes();
  };
  CHECK_THAT(folder.error(resized("half_pixel")), Contains("has a scale of 1.5 but makes 7 positions of 5"));
  // 1.2 pixels for each of 4 are 4, too, but others.
  CHECK_THAT(folder.error(
                 Model{.graph = floats("by", {4}, {1, 1, 1.2F, 1.2F}) + node("Resize", {"x", "", "by"}, "y")}
                     .bytes()),
             Contains("but makes 4 positions of 4"));
  CHECK(folder.read(resized("align_corners")).models.description.graph.output_shape() == Shape{2, 7, 4});
}

TEST_CASE("windows along one axis of volumes, of which PyTorch's LocalResponseNorm consists, are read") {
  const Folder folder;
  const auto pooled = [](const std::vector<std::int64_t>& kernel, const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads) {
    const std::string window = list_attribute("kernel_shape", kernel) + list_attribute("strides", strides) +
                               list_attribute("pads", pads);
    const std::string graph = integers("dims", {-1, 1, 4, 1, 2}) + node("Reshape", {"x", "dims"}, "a") +
                              node("AveragePool", {"a"}, "b", window) + node("Flatten", {"b"}, "y");
    return Model{.graph = graph, .input = {-1, 4, 1, 2}}.bytes();
  };
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  using List = std::vector<double>;
  CHECK(output_of(folder.read(pooled({2, 1, 1}, {2, 1, 1}, {1, 0, 0, 0, 0, 0})), x) == List{1, 2, 4, 5});
  CHECK(output_of(folder.read(pooled({1, 1, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0})), x) ==
        List{1.5, 3.5, 5.5, 7.5});
  CHECK_THAT(folder.error(pooled({2, 1, 1}, {1, 1, 2}, {0, 0, 0, 0, 0, 0})), Contains("windows with 3 axes"));
}

TEST_CASE("absurd sizes in an ONNX file are refused at once") {
  const Folder folder;
  const std::int64_t huge = std::int64_t{1} << 62;
  CHECK_THAT(
      folder.error(Model{.graph = floats("w", {huge, huge}, 4) + node("MatMul", {"x", "w"}, "y")}.bytes()),
      Contains("tensor w"));
  CHECK_THAT(folder.error(Model{.graph = floats("w", {-4}, 4) + node("Add", {"x", "w"}, "y")}.bytes()),
             Contains("tensor w"));
  CHECK_THAT(folder.error(Model{.graph = node("Relu", {"x"}, "y"), .input = {1, huge, 2, 2}}.bytes()),
             Contains("input"));
  const std::string shape = integers("s", {huge, 3, huge, huge});
  for (const char* op : {"Expand", "Reshape", "Tile"}) {
    CHECK_THAT(folder.error(Model{.graph = shape + node(op, {"x", "s"}, "y")}.bytes()), Contains(op));
  }
  const std::string filled = shape + node("ConstantOfShape", {"s"}, "a") + node("Add", {"x", "a"}, "y");
  CHECK_THAT(folder.error(Model{.graph = filled}.bytes()), Contains("ConstantOfShape"));
}

TEST_CASE("a huge ONNX graph is refused at once") {
  const Folder folder;
  const auto chain = [](int nodes, const std::string& op, const std::vector<std::string>& others = {}) {
    std::string graph;
    for (int i = 0; i < nodes; ++i) {
      std::vector<std::string> inputs{i == 0 ? "x" : fmt::format("v{}", i)};
      inputs.insert(inputs.end(), others.begin(), others.end());
      graph += node(op, inputs, i + 1 == nodes ? "y" : fmt::format("v{}", i + 1));
    }
    return graph;
  };
  CHECK_THAT(folder.error(Model{.graph = chain(20001, "Relu")}.bytes()), Contains("20001 nodes"));
  CHECK_THAT(folder.error(Model{.graph = chain(10001, "Relu")}.bytes()), Contains("10000 layers"));
  const std::string scaled = number("half", 0.5F) + chain(3000, "Mul", {"half"});
  CHECK(layers_of(folder.read(Model{.graph = scaled}.bytes())).size() == 3000);
  std::string constants = floats("v0", {5000}, 5000);
  for (int i = 0; i < 1000; ++i) {
    constants += node("Add", {fmt::format("v{}", i), "v0"}, fmt::format("v{}", i + 1));
  }
  CHECK_THAT(folder.error(Model{.graph = constants + node("Add", {"x", "v1000"}, "y")}.bytes()),
             Contains("more constants"));
}

TEST_CASE("a parameter of one number is said to stay as it is, and Ultralytics' names of classes are read") {
  const Folder folder;
  const Model model{.graph = floats("w", {32, 2}, 64) + number("scale", 3) + node("Flatten", {"x"}, "a") +
                             node("MatMul", {"a", "w"}, "b") + node("Mul", {"b", "scale"}, "y")};
  const std::string names =
      field(14, field(1, std::string_view("names")) + field(2, std::string_view("{0: 'cat', 1: \"dog's\"}")));
  const Imported imported = folder.read(model.bytes() + names);
  CHECK_THAT(join(imported.notes), Contains("Single numbers"));
  CHECK(imported.models.description.class_names == std::vector<std::string>{"cat", "dog's"});
}

TEST_CASE("external data must lie in the folder of the ONNX file") {
  const Folder folder;
  write_file(folder.folder / "data.bin", std::string(96 * 4, 0));
  const auto model = [](const std::string& location) {
    const std::string entry = field(1, std::string_view("location")) + field(2, location);
    const std::string tensor = dims_field(1, {32, 3}) + field(2, std::int64_t{1}) +
                               field(8, std::string_view("w")) + field(13, entry) +
                               field(14, std::int64_t{1});
    return Model{.graph = field(5, tensor) + node("Flatten", {"x"}, "a") + node("MatMul", {"a", "w"}, "y")}
        .bytes();
  };
  CHECK(folder.read(model("data.bin")).models.members[0].parameters.size() == 96);
  CHECK_THAT(folder.error(model("/etc/passwd")), Contains("absolute"));
  CHECK_THAT(folder.error(model("../data.bin")), Contains("leaves the model's folder"));
  CHECK_THAT(folder.error(model("a/../../data.bin")), Contains("leaves the model's folder"));
  CHECK_THAT(folder.error(model("missing.bin")), Contains("does not exist"));
  CHECK_THAT(folder.error(model("")), Contains("not a file name"));
  fs::create_symlink("/etc/passwd", folder.folder.path() / "link.bin");
  CHECK_THAT(folder.error(model("link.bin")), Contains("link out of"));
  fs::resize_file(folder.folder.path() / "data.bin", 100);
  CHECK_THAT(folder.error(model("data.bin")), Contains("ends before tensor w"));
}

TEST_CASE("damaged ONNX files end in an Error") {
  const Folder folder;
  std::mt19937 random(1);
  for (const char* name : {"excite.onnx", "gru.onnx", "old_opset.onnx", "vision.onnx"}) {
    const std::string bytes = bytes_of(kFiles / name);
    for (std::size_t size = 0; size < bytes.size(); size += 97) {
      CHECK_THAT(folder.error(bytes.substr(0, size)), Contains("model.onnx"));
    }
    for (int i = 0; i < 100; ++i) {  // any outcome but a crash
      std::string damaged = bytes;
      for (int flips = 0; flips < 3; ++flips) damaged[random() % bytes.size()] = static_cast<char>(random());
      folder.error(damaged);
    }
  }
}
