#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/file.hpp"
#include "interop/format.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/operators.hpp"
#include "interop/outputs.hpp"

namespace convoke::interop {
namespace onnx {
namespace {

constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 28;

void check_opset(const ModelProto& model) {
  if (model.opset >= kOldestOpset && model.opset <= kNewestOpset) return;
  if (model.opset == 0) throw Error("does not say its version of ONNX's operators");
  throw Error(
      fmt::format("has opset {}, but Convoke reads {} to {}", model.opset, kOldestOpset, kNewestOpset),
      "convert it: onnx.version_converter.convert_version(model, 17)");
}

constexpr std::array kFamilies{&kActivationOperators,    &kArithmeticOperators, &kDenseOperators,
                               &kNormalizationOperators, &kPartsOperators,      &kQuantizedOperators,
                               &kResizeOperators,        &kSequenceOperators,   &kStructureOperators,
                               &kWindowOperators};

// Operators that the pattern pass puts in the place of several nodes: see patterns.cpp.
constexpr std::array kRecognized{
    Operator{"AsStrided", convert_strided},
    Operator{"AttentionOfHeads", convert_spelled_attention},
    Operator{"HardSigmoid6", convert_recognized_activation},
    Operator{"Normalize", convert_normalize},
    Operator{"Relu6", convert_recognized_activation},
    Operator{"Silu", convert_recognized_activation},
};

/// Returns how a node is converted: an operator of ONNX, or one that only patterns give. Nothing: not at all.
std::optional<Operator> find_operator(const NodeProto& node) {
  if (node.domain == kRecognizedDomain) {
    if (const Operator* recognized = find_named(kRecognized, node.op)) return *recognized;
  } else if (!node.domain.empty()) {
    return std::nullopt;
  }
  for (const auto* family : kFamilies) {
    if (const Operator* own = find_named(*family, node.op)) return *own;
  }
  if (const PlainLayer* plain = find_named(plain_layers(), node.op, &PlainLayer::onnx))
    return Operator{plain->onnx, convert_plain};
  if (find_named(element_functions(), node.op, &ElementFunction::onnx) == nullptr) return std::nullopt;
  return Operator{node.op, convert_function};
}

/// Another export or layer that can replace an operator.
using Advice = Named<std::string_view>;
constexpr std::array kAdvice{
    Advice{"LpPool", "use average_pool or max_pool"},
    Advice{"RNN", "Convoke has lstm and gru"},
    Advice{"If", "export the model with fixed sizes, so that the branch is decided"},
    Advice{"Loop",
           "save the model as .keras, which Convoke reads: Keras exports a GRU, and any recurrent layer "
           "behind a mask, as a Loop; PyTorch's exporters write LSTM and GRU"},
    Advice{"Scan", "Convoke has the recurrent layers lstm and gru, which exporters write as LSTM and GRU"},
    Advice{"NonMaxSuppression", "export the network without its post-processing"},
    Advice{"TopK", "export the network without its post-processing"},
    Advice{"Einsum", "write it as MatMul; Convoke converts attention as MatMul, Softmax and MatMul"},
    Advice{"GridSample", "Convoke has resize"},
};

// With what the operators of onnxruntime for quantized numbers begin.
constexpr std::array<std::string_view, 10> kOfQuantized{
    "ConvInteger", "DynamicQuantize", "MatMulBnb4", "MatMulInteger", "MatMulNBits",
    "QAttention",  "QEmbed",          "QGemm",      "QLinear",       "QOrdered"};

[[noreturn]] void refuse_operator(const NodeProto& node) {
  const auto begins = [&](std::string_view name) { return node.op.starts_with(name); };
  if (std::ranges::any_of(kOfQuantized, begins))
    throw Error(fmt::format("{}: computes with quantized numbers", describe(node)),
                std::string(kBeforeQuantized));
  const Advice* advice = find_named(kAdvice, node.op);
  throw Error(fmt::format("{}: Convoke has no layer for this operator", describe(node)),
              advice == nullptr ? "cut the model before this node, or write this part with the operators "
                                  "that docs/interop.md lists"
                                : std::string(advice->value));
}

void convert(Import& import, const NodeProto& node, const std::filesystem::path& folder, int depth = 0);

/// Converts the branch of an If whose condition is known.
void convert_branch(Call& call, const std::filesystem::path& folder, int depth) {
  constexpr int kMostDepth = 8;
  const bool yes = call.constant(0, "condition").scalar().value_or(0) != 0;
  const Attribute* branch = find_attribute(call.node(), yes ? "then_branch" : "else_branch");
  if (branch == nullptr || depth == kMostDepth) call.refuse("has no branch that Convoke reads");
  Import& import = call.import();
  const ModelProto& graph = import.branches.emplace_back(parse_graph(branch->graph));
  for (const TensorProto& tensor : graph.initializers) {
    import.values.insert_or_assign(tensor.name, make_constant(tensor, folder));
  }
  for (const NodeProto& inner : graph.nodes) convert(import, inner, folder, depth + 1);
  for (std::size_t i = 0; i < graph.outputs.size() && i < call.node().outputs.size(); ++i) {
    const Known* value = import.find(graph.outputs[i].name);
    if (value == nullptr) call.refuse("has a branch without its output");
    call.give(Known(*value), i);
  }
}

void convert(Import& import, const NodeProto& node, const std::filesystem::path& folder, int depth) {
  Call call(import, node);
  if (node.op == "Constant" && node.domain.empty()) {
    if (std::optional<Constant> value = constant_of(node, folder)) return call.give(std::move(*value));
  }
  bool constant = true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (call.has(i)) constant = constant && import.find(node.inputs[i]) != nullptr && call.is_constant(i);
  }
  if (constant && node.op == "If" && node.domain.empty()) return convert_branch(call, folder, depth);
  try {
    if (constant && node.domain.empty() && fold(call)) return;
    const std::optional<Operator> entry = find_operator(node);
    if (!entry) refuse_operator(node);
    if (constant && !entry->of_constants) {
      call.refuse("has only constant inputs, which Convoke does not compute",
                  "fold them first: python -m onnxsim model.onnx folded.onnx");
    }
    entry->convert(call);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with("node ")) throw;
    call.refuse(what, error.hint());
  }
}

/// Leaves the output that is asked for, which may also be a value within the network: of that name, or the
/// first of the node of that name. Says which one is taken if there are several.
void choose_output(ModelProto& model, const std::string& wanted, std::vector<std::string>& notes) {
  std::vector<ValueInfo>& outputs = model.outputs;
  std::vector<std::string> names;
  for (const ValueInfo& output : outputs) names.push_back(one_line(output.name));
  if (wanted.empty()) {
    if (outputs.size() < 2) return;
    const std::vector<std::string> others(names.begin() + 1, names.end());
    notes.push_back(fmt::format("The network gives the output {}; {} left out. --output-node takes another.",
                                names[0], others.size() == 1 ? others[0] + " is" : join(others) + " are"));
    return;
  }
  const auto listed = std::ranges::find(outputs, wanted, &ValueInfo::name);
  if (listed != outputs.end()) {
    outputs = {ValueInfo(*listed)};
    return;
  }
  for (const NodeProto& node : model.nodes) {
    const bool gives = std::ranges::find(node.outputs, wanted) != node.outputs.end();
    if (node.outputs.empty() || (!gives && node.name != wanted)) continue;
    outputs = {ValueInfo{.name = gives ? wanted : node.outputs[0], .dims = {}}};
    std::erase_if(model.metadata,
                  [](const auto& fact) { return fact.first == "output"; });  // of another value
    return;
  }
  throw Error(fmt::format("has no output \"{}\"", one_line(wanted)),
              "its outputs are " + join(names) + "; --output-node also takes the name of a node");
}

/// True if the node changes only the type of its numbers, or that of the classes which ArgMax gives.
bool only_names(const Source& source, const NodeProto& node) {
  if (node.op != "Cast") return node.op == "Identity";
  const std::int64_t type = attribute_of(node, "to", &Attribute::integer, std::int64_t{1});
  const NodeProto* before = source.producer(node.inputs[0]);
  return is_real(type) || (before != nullptr && before->op == "ArgMax");
}

/// Returns the value that our network gives: the output, before what does not belong to a network.
std::string output_of(const Source& source, std::vector<std::string>& notes) {
  if (source.model().outputs.empty()) throw Error("has no output");
  std::string output = source.model().outputs[0].name;
  while (const NodeProto* last = source.producer(output)) {
    if (last->inputs.empty() || !last->domain.empty()) break;
    if (last->op == "ArgMax") {
      notes.push_back("The final ArgMax is left out: Convoke chooses the class itself.");
    } else if (!only_names(source, *last)) {
      break;
    }
    output = last->inputs[0];
  }
  return output;
}

/// Adds the layers that bring the output into the order of a sample, and makes it the last node.
void finish_output(Import& import, const std::string& output) {
  const Known* value = import.find(output);
  const View* view = value == nullptr ? nullptr : std::get_if<View>(value);
  if (view == nullptr) throw Error(fmt::format("its output \"{}\" is constant", one_line(output)));
  const std::optional<std::size_t> batch = view->batch_axis();
  if (!batch) {
    throw Error(fmt::format("its output {} does not keep the samples apart", to_string(view->dims())),
                "export the model without the reshape that joins samples");
  }
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < view->rank(); ++axis) {
    if (axis != *batch) order.push_back(axis);
  }
  const auto in_order = [&] {
    std::vector<View::Axis> axes;
    for (const std::size_t axis : order) axes.push_back(view->axes[axis]);
    return axes;
  };
  // The output of a channels-last model is (N, H, W, C), too, unless its axes already have the order of ours.
  if (import.input.channels_last && order.size() == 3 && !is_arranged(import.builder, *view, in_order())) {
    order = {order[2], order[0], order[1]};
  }
  const auto wide = static_cast<std::size_t>(
      std::count_if(order.begin(), order.end(), [&](std::size_t axis) { return !view->axes[axis].empty(); }));
  if (wide <= 1 || order.size() > 3) {
    std::erase_if(order, [&](std::size_t axis) { return view->axes[axis].empty(); });
  }
  std::vector<View::Axis> groups;
  if (order.size() > 3) {
    groups = {atoms_of(*view, order)};
    import.builder.note(fmt::format("The output {} becomes a vector.", to_string(view->dims())));
  } else {
    groups = in_order();
  }
  if (groups.empty()) groups.emplace_back();
  const std::size_t node = arrange(import.builder, *view, groups);
  if (import.builder.graph().node(node).layer == nullptr) throw Error("its output is its input");
  if (node + 1 != import.builder.graph().nodes().size()) {
    import.builder.add({{ "layer", "identity" }}, {node});
  }
}

/// Notes that batch norms were folded into convolutions, as PyTorch's exporters do without being asked.
void note_folding(const Source& source, ModelBuilder& builder) {
  bool folded = false;
  for (const NodeProto& node : source.nodes()) {
    if (node.op != "Conv") continue;
    folded = folded || (node.inputs.size() == 3 && node.inputs[1].starts_with("onnx::Conv"));
    for (const auto& [key, value] : node.metadata) {
      folded =
          folded || (key == "pkg.onnxscript.rewriter.rule_name" && value.find("FuseBatchNorm") != value.npos);
    }
  }
  if (!folded) return;
  builder.note(
      "The exporter has folded batch normalization into convolutions. To fine-tune with batch normalization, "
      "export with torch.onnx.export(..., dynamo=False, training=torch.onnx.TrainingMode.PRESERVE, "
      "do_constant_folding=False).");
}

/// Returns what stands between quotes, in order.
std::vector<std::string> between_quotes(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; (at = text.find_first_of("'\"", at)) != text.npos;) {
    const std::size_t end = text.find(text[at], at + 1);
    if (end == text.npos) break;
    parts.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return parts;
}

void read_metadata(const ModelProto& model, Imported& imported) {
  nlohmann::json facts = nlohmann::json::object();
  for (const auto& [key, text] : model.metadata) {
    facts[key] = text;
    // {0: 'cat', 1: 'dog'}, as Ultralytics writes the names of classes
    if (key == "names" && text.starts_with("{0:")) facts.emplace("class_names", between_quotes(text));
  }
  resolve_outputs(imported, stated_outputs(facts));
  set_input_facts(imported, facts);
}

/// `release`: gives the memory of numbers that were read back.
Imported import_model(ModelProto model, const std::filesystem::path& folder, const ImportOptions& options,
                      const std::function<void()>& release) {
  check_opset(model);
  std::vector<std::string> notes;
  choose_output(model, options.output, notes);
  Source source(std::move(model), folder);
  recognize_patterns(source);
  source.index();
  const std::string output = output_of(source, notes);
  const std::vector<std::size_t> order = source.order(output);
  source.keep(order, output);
  const Input input = choose_input(source, order, options);

  Import import(source, input);
  for (const auto& [name, constant] : source.constants()) import.values.emplace(name, constant);
  import.values.insert_or_assign(input.name, View::of(import.builder.graph(), 0, input.roles));
  for (const std::size_t node : order) {  // before nodes that only a loop needs are refused
    const std::string_view op = source.nodes()[node].op;
    if (op == "Loop" || op == "Scan") refuse_operator(source.nodes()[node]);
  }
  for (const std::size_t node : order) convert(import, source.nodes()[node], folder);
  finish_output(import, output);

  for (const std::string& note : notes) import.builder.note(note);
  note_folding(source, import.builder);
  if (input.channels_last) {
    import.builder.note(
        "The file takes images (N, H, W, C); the network takes (N, C, H, W), as all of Convoke.");
  }
  Imported imported = std::move(import.builder).finish(release);
  read_metadata(source.model(), imported);
  return imported;
}

}  // namespace

std::set<std::string_view> operator_names() {
  std::set<std::string_view> names;
  for (const auto* family : kFamilies) {
    for (const Operator& entry : *family) names.insert(entry.name);
  }
  for (const PlainLayer& entry : plain_layers()) names.insert(entry.onnx);
  for (const ElementFunction& entry : element_functions()) names.insert(entry.onnx);
  names.erase("");
  return names;
}

}  // namespace onnx

bool is_onnx(const Probe& probe) { return onnx::begins_model(std::as_bytes(std::span(probe.beginning))); }

Imported read_onnx(const std::filesystem::path& path, const ImportOptions& options) {
  try {
    const os::File file(path, os::Access::kRead);
    const os::MappedPart mapped(file, 0, file.size());
    return onnx::import_model(onnx::parse_model(mapped.bytes()), path.parent_path(), options,
                              [&] { mapped.release(); });
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(path.string())) throw;
    throw Error(fmt::format("{}: {}", path.string(), what), error.hint());
  }
}

}  // namespace convoke::interop
