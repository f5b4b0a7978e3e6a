#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "interop/onnx/formula.hpp"

namespace convoke::interop::onnx {
namespace {

const NodeProto* node_of(const Source& source, const Match& match, std::string_view op) {
  for (const auto& [name, output] : match.nodes) {
    if (name == op) return source.producer(output);
  }
  return nullptr;
}

/// Returns whole numbers of an attribute, or of the second input; none if they are not known.
std::optional<std::vector<std::int64_t>> list_of(const Source& source, const NodeProto& node,
                                                 const std::string& attribute) {
  if (const Attribute* given = find_attribute(node, attribute)) return given->integers;
  if (node.inputs.size() < 2) return std::nullopt;
  const Constant* given = source.constant(node.inputs[1]);
  if (given == nullptr || !given->is_numbers()) return std::nullopt;
  std::vector<std::int64_t> list;
  for (const Dim dim : given->numbers) list.push_back(dim.value);
  return list;
}

/// Adds the attributes of a recognized node; false if it is not that operator after all.
using Finish = bool (*)(const Source& source, const Match& match, NodeProto& node);

bool tanh_form(const Source&, const Match&, NodeProto& node) {
  node.attributes.push_back({.name = "approximate", .text = "tanh"});
  return true;
}

bool sixth(const Source& source, const Match& match, NodeProto&) {
  const NodeProto* gate = node_of(source, match, "HardSigmoid");
  return gate != nullptr &&
         std::abs(attribute_of(*gate, "alpha", &Attribute::number, 0.0F) - 1.0F / 6) < 1e-5F &&
         attribute_of(*gate, "beta", &Attribute::number, 0.5F) == 0.5F;
}

bool has_keepdims(const NodeProto& node) {
  return attribute_of(node, "keepdims", &Attribute::integer, std::int64_t{1}) != 0;
}

bool normalize(const Source& source, const Match& match, NodeProto& node) {
  std::optional<std::vector<std::int64_t>> axes;
  for (const auto& [op, output] : match.nodes) {
    if (op != "ReduceMean" && op != "ReduceSum") continue;
    const NodeProto* mean = source.producer(output);
    const auto own = list_of(source, *mean, "axes");
    const bool gone = op == "ReduceMean" && !has_keepdims(*mean);
    if (!own || gone || (axes && *axes != *own)) return false;
    axes = own;
  }
  const Constant* epsilon = source.constant(match.values.at("$e"));
  if (!axes || axes->empty() || epsilon == nullptr) return false;
  node.attributes.push_back({.name = "axes", .integers = *axes});
  node.attributes.push_back({.name = "epsilon", .number = epsilon->scalar().value_or(0)});
  if (const auto factor = match.values.find("$n"); factor != match.values.end()) {
    const Constant* share = source.constant(factor->second);
    node.attributes.push_back(
        {.name = "share", .number = share == nullptr ? 0 : share->scalar().value_or(0)});
  }
  return true;
}

/// True if the tokens are compared with 0, 1, 2, ...
bool one_hot(const Source& source, const Match& match, NodeProto&) {
  const Constant* tokens = source.constant(match.values.at("@r"));
  if (tokens == nullptr || !tokens->is_numbers() || tokens->shape.rank() == 0) return false;
  if (tokens->shape.extents().back() != tokens->shape.elements()) return false;
  return counts_up(tokens->numbers);
}

bool group_norm(const Source& source, const Match& match, NodeProto& node) {
  const NodeProto* instance = node_of(source, match, "InstanceNormalization");
  const Constant* ones = source.constant(match.values.at("@s"));
  const Constant* zeroes = source.constant(match.values.at("@t"));
  if (ones == nullptr || zeroes == nullptr || ones->shape.rank() != 1 || ones->uniform() != 1.0F ||
      zeroes->uniform() != 0.0F) {
    return false;
  }
  node.attributes.push_back({.name = "num_groups", .integer = ones->shape[0]});
  node.attributes.push_back(
      {.name = "epsilon", .number = attribute_of(*instance, "epsilon", &Attribute::number, 1e-5F)});
  return true;
}

/// True if a node that reduces keeps its axes, itself or by a reshape after it.
bool keeps_axes(const Match& match, const NodeProto& node) {
  return has_keepdims(node) || match.values.contains("s");
}

bool softmax(const Source& source, const Match& match, NodeProto& node) {
  const NodeProto* sum = node_of(source, match, "ReduceSum");
  const auto axes = list_of(source, *sum, "axes");
  if (!axes || axes->size() != 1 || !keeps_axes(match, *sum)) return false;
  const NodeProto* largest = node_of(source, match, "ReduceMax");
  if (largest != nullptr && (list_of(source, *largest, "axes") != axes || !keeps_axes(match, *largest)))
    return false;
  node.attributes.push_back({.name = "axis", .integer = axes->front()});
  return true;
}

// x / (k + alpha mean)^beta, where the mean of squares is over `size` channels, as PyTorch writes it
bool local_response_norm(const Source& source, const Match& match, NodeProto& node) {
  const NodeProto* pool = node_of(source, match, "AveragePool");
  const Attribute* kernel = find_attribute(*pool, "kernel_shape");
  if (kernel == nullptr || kernel->integers.size() != 3 || kernel->integers[0] < 1 ||
      kernel->integers[1] != 1 || kernel->integers[2] != 1)
    return false;
  const auto are = [&](const char* name, std::int64_t value) {
    const Attribute* list = find_attribute(*pool, name);
    return list == nullptr || std::all_of(list->integers.begin(), list->integers.end(),
                                          [&](std::int64_t one) { return one == value; });
  };
  if (!are("strides", 1) || !are("dilations", 1) || !are("pads", 0)) return false;
  const std::int64_t size = kernel->integers[0];
  const std::vector<std::int64_t> pads{0, 0, size / 2, 0, 0, 0, 0, (size - 1) / 2, 0, 0};
  if (list_of(source, *node_of(source, match, "Pad"), "pads") != pads) return false;
  const auto number = [&](const char* letter) {
    return source.constant(match.values.at(letter))->scalar().value_or(0);
  };
  node.attributes = {{.name = "size", .integer = kernel->integers[0]},
                     {.name = "alpha", .number = number("$a")},
                     {.name = "bias", .number = number("$k")},
                     {.name = "beta", .number = number("$b")}};
  return true;
}

/// True if a Gather alone reads the value, from a table of $v rows: a token below 0 counts from the end, as
/// TensorFlow writes an Embedding. Tokens are never below 0.
bool token(const Source& source, const Match& match, NodeProto& node) {
  const std::optional<float> rows = source.constant(match.values.at("$v"))->scalar();
  const std::vector<std::size_t>& readers = source.consumers(node.outputs[0]);
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](std::size_t index) {
    const NodeProto& reader = source.nodes()[index];
    const Constant* table = reader.op == "Gather" ? source.constant(reader.inputs.at(0)) : nullptr;
    return table != nullptr && table->shape.rank() > 0 && static_cast<float>(table->shape[0]) == rows;
  });
}

bool attention(const Source& source, const Match& match, NodeProto& node) {
  const std::int64_t usual = source.model().opset < 13 ? 1 : -1;
  const NodeProto& softmax = *node_of(source, match, "Softmax");
  node.attributes.push_back(
      {.name = "axis", .integer = attribute_of(softmax, "axis", &Attribute::integer, usual)});
  return true;
}

/// The recurrent layer keeps its attributes, and reads the sequences and the tokens that mask them.
bool masked_recurrent(const Source& source, const Match& match, NodeProto& node) {
  const Attribute* order = find_attribute(*node_of(source, match, "Transpose"), "perm");
  const NodeProto* cell = node_of(source, match, node.op);
  const Attribute* layout = find_attribute(*cell, "layout");
  if (order == nullptr || order->integers != std::vector<std::int64_t>{1, 0, 2} || layout != nullptr) {
    return false;
  }
  node.attributes = cell->attributes;
  return true;
}

/// The time steps of a masked layer's states that come after: its layer gives them already.
bool masked_states(const Source& source, const Match& match, NodeProto& node) {
  const NodeProto* cell = node_of(source, match, "LSTM");
  if (cell == nullptr) cell = node_of(source, match, "GRU");
  const bool both = attribute_of(*cell, "direction", &Attribute::text, std::string()) == "bidirectional";
  const bool zeroes = node_of(source, match, "Min") == nullptr;  // at masked time steps
  if (cell->domain != kRecognizedDomain || both != zeroes) return false;
  for (const auto& [op, output] : match.nodes) {
    if (op == "Reshape") node.inputs = {output};
  }
  return true;
}

struct Pattern {
  std::string_view formula;
  std::string_view op;                       ///< that it stands for
  std::array<std::string_view, 9> inputs{};  ///< its inputs, by their letters
  Finish finish = nullptr;                   ///< null: the formula is enough
};
// In the order in which they are sought: the longest forms come first.
constexpr std::array kPatterns{
    Pattern{"Mul(x,Sigmoid(x))", "Silu", {"x"}},
    Pattern{"Mul(x,Sigmoid(Mul(x,1)))", "Silu", {"x"}},
    Pattern{"Mul(Mul(x,Add(<erf>,1)),0.5)", "Gelu", {"x"}},
    Pattern{"Mul(x,Mul(Add(<erf>,1),0.5))", "Gelu", {"x"}},
    Pattern{"Mul(Mul(x,0.5),Add(<erf>,1))", "Gelu", {"x"}},
    Pattern{"Mul(Mul(x,Add(<tanh>,1)),0.5)", "Gelu", {"x"}, tanh_form},
    Pattern{"Mul(x,Mul(Add(<tanh>,1),0.5))", "Gelu", {"x"}, tanh_form},
    Pattern{"Mul(Mul(x,0.5),Add(<tanh>,1))", "Gelu", {"x"}, tanh_form},
    Pattern{"Div(Mul(x,<relu6>),6)", "HardSwish", {"x"}},
    Pattern{"Mul(Mul(x,<relu6>),0.16666667)", "HardSwish", {"x"}},
    Pattern{"Mul(x,Div(<relu6>,6))", "HardSwish", {"x"}},
    Pattern{"Mul(x,Mul(<relu6>,0.16666667))", "HardSwish", {"x"}},
    Pattern{"Mul(x,HardSigmoid(x))", "HardSwish", {"x"}, sixth},
    Pattern{"Div(<relu6>,6)", "HardSigmoid6", {"x"}},
    Pattern{"Mul(<relu6>,0.16666667)", "HardSigmoid6", {"x"}},
    Pattern{"MatMul(Cast(Equal(Expand(Reshape(x,p),q),@r)),@w)", "Gather", {"@w", "x", "p", "q"}, one_hot},
    Pattern{"Gather(Reshape(x,s),Add(Add(Add(Unsqueeze(Mul(Range(0,n,1),$c),@u),@a),@b),@d))",
            "AsStrided",
            {"x", "s", "n", "$c", "@a", "@b", "@d"}},
    Pattern{"Where(<negative>,Add(x,$v),x)", "Identity", {"x"}, token},
    Pattern{"Add(Mul(Cast(<negative>),Add(x,$v)),Mul(x,Cast(Not(<negative>))))", "Identity", {"x"}, token},
    Pattern{"Log(Add(Exp(x),1))", "Softplus", {"x"}},
    Pattern{"Where(Greater(x,20),x,Softplus(x))", "Softplus", {"x"}},
    Pattern{"Min(Relu(x),6)", "Relu6", {"x"}},
    Pattern{"Div(x,Pow(Add(Mul(Squeeze(AveragePool(Pad(Reshape(Mul(x,x),s)))),$a),$k),$b))",
            "LRN",
            {"x", "s"},
            local_response_norm},
    Pattern{"Add(Mul(<normalized>,@g),@b)", "Normalize", {"x", "@g", "@b", "s"}, normalize},
    Pattern{
        "Add(Mul(x,<scaled>),Sub(@b,Mul(<mean>,<scaled>)))", "Normalize", {"x", "@g", "@b", "s"}, normalize},
    Pattern{"Add(Mul(<centered>,<scaled>),@b)", "Normalize", {"x", "@g", "@b", "s"}, normalize},
    Pattern{
        "Add(Mul(x,<inverse>),Sub(@b,Mul(<mean>,<inverse>)))", "Normalize", {"x", "", "@b", "s"}, normalize},
    Pattern{"Sub(Mul(x,<inverse>),Mul(<mean>,<inverse>))", "Normalize", {"x", "", "", "s"}, normalize},
    Pattern{"Mul(<normalized>,@g)", "Normalize", {"x", "@g", "", "s"}, normalize},
    Pattern{"<normalized>", "Normalize", {"x", "", "", "s"}, normalize},
    Pattern{"Add(Mul(Reshape(InstanceNormalization(Reshape(x,p),@s,@t),q),@g),@b)",
            "GroupNormalization",
            {"x", "@g", "@b", "p", "q"},
            group_norm},
    Pattern{"Div(<exponential>,<total>)", "Softmax", {"x", "s"}, softmax},
    Pattern{"MatMul(Softmax(<scores>),v)",
            "AttentionOfHeads",
            {"q", "k", "v", "@a", "@b", "@c", "@d", "@e", "@f"},
            attention},
    Pattern{"LSTM(Transpose(<compacted>),@w,@r,b,<lengths>)",
            "LSTM",
            {"x", "@w", "@r", "b", "t"},
            masked_recurrent},
    Pattern{"GRU(Transpose(<compacted>),@w,@r,b,<lengths>)",
            "GRU",
            {"x", "@w", "@r", "b", "t"},
            masked_recurrent},
    Pattern{"Mul(GatherND(Reshape(Transpose(LSTM(x,@w,@r,b,t))),Unsqueeze(<last>,@u)),"
            "Cast(Unsqueeze(<shown>,@v)))",
            "Identity",
            {"x"},
            masked_states},
    Pattern{"Mul(GatherND(Reshape(Transpose(GRU(x,@w,@r,b,t))),Unsqueeze(<last>,@u)),"
            "Cast(Unsqueeze(<shown>,@v)))",
            "Identity",
            {"x"},
            masked_states},
};

/// Older opsets give the bounds of Clip as attributes: they become inputs, as in newer ones.
void move_bounds(Source& source, NodeProto& node) {
  if (node.op != "Clip" || node.inputs.size() != 1) return;
  for (const char* name : {"min", "max"}) {
    const Attribute* bound = find_attribute(node, name);
    node.inputs.emplace_back();
    if (bound == nullptr) continue;
    node.inputs.back() = node.outputs.at(0) + "#" + name;
    source.set_constant(node.inputs.back(), Constant::of_floats({}, {bound->number}));
  }
  node.attributes.clear();
}

/// onnxruntime's own operators for types that ONNX' operators of the same names had not yet.
void rename_contributed(NodeProto& node) {
  const bool quantizes = node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  if (quantizes && node.domain == "com.microsoft") node.domain.clear();
}

void rewrite(const Source& source, const Matcher& matcher, NodeProto& node, const Pattern& pattern) {
  // Recurrent layers have further outputs, which nothing reads.
  const auto is_read = [&](const std::string& output) {
    return !source.consumers(output).empty() || source.is_output(output);
  };
  const auto output = std::find_if(node.outputs.begin(), node.outputs.end(), is_read);
  Match match;
  if (std::count_if(output, node.outputs.end(), is_read) != 1 ||
      !matcher.matches(pattern.formula, *output, match))
    return;
  NodeProto made{.op = std::string(pattern.op),
                 .domain = kRecognizedDomain,
                 .name = node.name,
                 .inputs = {},
                 .outputs = node.outputs};
  for (const std::string_view letter : pattern.inputs) {
    const auto value = match.values.find(std::string(letter));
    made.inputs.push_back(value == match.values.end() ? "" : value->second);
  }
  while (made.inputs.back().empty()) made.inputs.pop_back();
  if (pattern.finish == nullptr || pattern.finish(source, match, made)) node = std::move(made);
}

}  // namespace

void recognize_patterns(Source& source) {
  for (std::size_t i = 0; i < source.nodes().size(); ++i) {
    move_bounds(source, source.node(i));
    rename_contributed(source.node(i));
  }
  const Matcher matcher(source);
  for (const Pattern& pattern : kPatterns) {
    for (std::size_t i = 0; i < source.nodes().size(); ++i) {
      NodeProto& node = source.node(i);
      // A formula begins with the operator of its last node, unless it is a rule.
      const bool possible = pattern.formula.front() == '<' || pattern.formula.starts_with(node.op + "(");
      if (possible && node.domain.empty()) rewrite(source, matcher, node, pattern);
    }
  }
}

}  // namespace convoke::interop::onnx
