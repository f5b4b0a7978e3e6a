#include "interop/onnx/patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>

namespace convoke::interop::onnx {
namespace {

// A pattern is written as a formula:
//   Op(a, b)  a node; Add, Mul, Min and Max also with their inputs swapped
//   x         any value, the same one wherever the letter stands
//   $e        a constant of one number
//   @g        a constant, or a value that follows from constants
//   0.5       a constant of one number, near this one
//   <rule>    any of the patterns of that rule
struct Rule {
  std::string_view name, pattern;
};
constexpr std::array kRules{
    Rule{"erf", "Erf(Div(x,1.4142135))"},
    Rule{"erf", "Erf(Mul(x,0.70710678))"},
    Rule{"cube", "Pow(x,3)"},
    Rule{"cube", "Mul(x,Mul(x,x))"},
    Rule{"cube", "Mul(x,Pow(x,2))"},
    Rule{"tanh", "Tanh(Mul(Add(x,Mul(<cube>,0.044715)),0.7978846))"},
    Rule{"tanh", "Tanh(Mul(Mul(x,Add(Mul(Mul(x,x),0.044715),1)),0.7978846))"},
    Rule{"tanh", "Tanh(Mul(x,Mul(Add(Mul(Mul(x,x),0.044715),1),0.7978846)))"},
    Rule{"tanh", "Tanh(Mul(Mul(x,0.7978846),Add(Mul(Mul(x,x),0.044715),1)))"},
    Rule{"tanh", "Tanh(Mul(Add(x,Mul(x,Mul(x,Mul(x,0.044715)))),0.7978846))"},
    Rule{"relu6", "Clip(Add(x,3),0,6)"},
    Rule{"relu6", "Min(Max(Add(x,3),0),6)"},
    Rule{"relu6", "Max(Min(Add(x,3),6),0)"},
    Rule{"relu6", "Min(Relu(Add(x,3)),6)"},
    Rule{"mean", "ReduceMean(x)"},
    Rule{"mean", "Expand(Reshape(<sum>))"},
    Rule{"sum", "Mul(ReduceSum(x),$n)"},
    Rule{"squares", "Mul(ReduceSum(Mul(x,x)),$n)"},
    Rule{"centred", "Sub(x,<mean>)"},
    Rule{"square", "Pow(<centred>,2)"},
    Rule{"square", "Mul(<centred>,<centred>)"},
    Rule{"variance", "ReduceMean(<square>)"},
    Rule{"variance", "Sub(ReduceMean(Mul(x,x)),Mul(<mean>,<mean>))"},
    Rule{"variance", "Sub(ReduceMean(Pow(x,2)),Pow(<mean>,2))"},
    Rule{"variance", "Expand(Reshape(Max(Sub(<squares>,Mul(<sum>,<sum>)),0)))"},
    Rule{"deviation", "Sqrt(Add(<variance>,$e))"},
    Rule{"deviation", "Pow(Add(<variance>,$e),0.5)"},
    Rule{"inverse", "Reciprocal(<deviation>)"},
    Rule{"inverse", "Div(1,<deviation>)"},
    Rule{"inverse", "Pow(Add(<variance>,$e),-0.5)"},
    Rule{"scaled", "Mul(<inverse>,@g)"},
    Rule{"normalised", "Div(<centred>,<deviation>)"},
    Rule{"normalised", "Mul(<centred>,<inverse>)"},
    Rule{"exponential", "Exp(x)"},
    Rule{"exponential", "Exp(Sub(x,ReduceMax(x)))"},
    Rule{"exponential", "Exp(Sub(x,Expand(Reshape(Max(ReduceMax(x),$i)))))"},
    Rule{"total", "ReduceSum(<exponential>)"},
    Rule{"total", "Expand(Reshape(ReduceSum(<exponential>)))"},
};

/// What follows from a pattern that fits.
struct Match {
  std::map<std::string, std::string> values;               ///< letter -> value
  std::vector<std::pair<std::string, std::string>> nodes;  ///< operator -> one of its outputs
};

class Matcher {
 public:
  explicit Matcher(const Source& source) : source_(source) {}

  bool matches(std::string_view pattern, const std::string& value, Match& match) const {
    return fits(pattern, resolved(value), match);
  }

  std::optional<double> scalar(const std::string& value) const {
    const Constant* constant = source_.constant(resolved(value));
    if (constant == nullptr || constant->shape.elements() != 1) return std::nullopt;
    return constant->scalar();
  }

  /// Returns the value before Identity nodes.
  std::string resolved(std::string value) const {
    for (int steps = 0; steps < 16; ++steps) {
      const NodeProto* node = source_.producer(value);
      if (node == nullptr || node->op != "Identity" || node->inputs.size() != 1) break;
      value = node->inputs[0];
    }
    return value;
  }

 private:
  bool fits(std::string_view pattern, const std::string& value, Match& match) const {
    if (pattern.front() == '<') return fits_rule(pattern.substr(1, pattern.size() - 2), value, match);
    const std::size_t open = pattern.find('(');
    if (open != std::string_view::npos) return fits_node(pattern, open, value, match);
    if (pattern.front() == '$') return scalar(value) && bind(pattern, value, match);
    if (pattern.front() == '@') return is_static(value, 8) && bind(pattern, value, match);
    if (pattern.front() >= 'a' && pattern.front() <= 'z') return bind(pattern, value, match);
    const double wanted = std::strtod(std::string(pattern).c_str(), nullptr);
    const std::optional<double> number = scalar(value);
    return number && std::abs(*number - wanted) <= 1e-4 * std::max(1.0, std::abs(wanted));
  }

  static bool bind(std::string_view letter, const std::string& value, Match& match) {
    const auto [known, added] = match.values.emplace(letter, value);
    return added || known->second == value;
  }

  bool fits_rule(std::string_view name, const std::string& value, Match& match) const {
    for (const Rule& rule : kRules) {
      if (rule.name != name) continue;
      Match attempt = match;
      if (!fits(rule.pattern, value, attempt)) continue;
      match = std::move(attempt);
      return true;
    }
    return false;
  }

  bool fits_node(std::string_view pattern, std::size_t open, const std::string& value, Match& match) const {
    const std::string_view op = pattern.substr(0, open);
    const NodeProto* node = source_.producer(value);
    if (node == nullptr || node->op != op || (!node->domain.empty() && node->domain != kRecognisedDomain))
      return false;
    const std::vector<std::string_view> parts =
        arguments(pattern.substr(open + 1, pattern.size() - open - 2));
    // Further inputs of these are axes, shapes or pads, which formulas leave out.
    const bool more =
        op.starts_with("Reduce") || op == "Squeeze" || op == "Reshape" || op == "Pad" || op == "Expand";
    if (more ? node->inputs.size() < parts.size() : node->inputs.size() != parts.size()) return false;
    std::vector<std::string> inputs;
    for (const std::string& input : node->inputs) inputs.push_back(resolved(input));
    const bool swaps = parts.size() == 2 && (op == "Add" || op == "Mul" || op == "Min" || op == "Max");
    for (int order = 0; order < (swaps ? 2 : 1); ++order) {
      Match attempt = match;
      attempt.nodes.emplace_back(op, value);
      bool all = true;
      for (std::size_t i = 0; i < parts.size() && all; ++i) {
        all = fits(parts[i], inputs[order == 0 ? i : 1 - i], attempt);
      }
      if (!all) continue;
      match = std::move(attempt);
      return true;
    }
    return false;
  }

  /// Divides "a,Op(b,c)" at its outer commas.
  static std::vector<std::string_view> arguments(std::string_view list) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      if (i < list.size() && list[i] == '(') ++depth;
      if (i < list.size() && list[i] == ')') --depth;
      if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
      parts.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
    return parts;
  }

  /// True if the value is a constant, or follows from constants in a few steps.
  bool is_static(const std::string& value, int steps) const {
    if (source_.constant(value) != nullptr) return true;
    const NodeProto* node = source_.producer(value);
    constexpr std::size_t kMostInputs = 4;
    if (node == nullptr || steps == 0 || node->inputs.empty() || node->inputs.size() > kMostInputs)
      return false;
    return std::all_of(node->inputs.begin(), node->inputs.end(),
                       [&](const std::string& input) { return is_static(input, steps - 1); });
  }

  const Source& source_;
};

Attribute integer_attribute(std::string name, std::int64_t value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.integer = value;
  return attribute;
}
Attribute number_attribute(std::string name, double value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.number = static_cast<float>(value);
  return attribute;
}
Attribute text_attribute(std::string name, std::string value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.text = std::move(value);
  return attribute;
}

const NodeProto* node_of(const Source& source, const Match& match, std::string_view op) {
  for (const auto& [name, output] : match.nodes) {
    if (name == op) return source.producer(output);
  }
  return nullptr;
}

/// Returns the axes over which a node reduces; none if they are not known.
std::optional<std::vector<std::int64_t>> axes_of(const Source& source, const NodeProto& node) {
  if (const Attribute* axes = find_attribute(node, "axes")) return axes->integers;
  if (node.inputs.size() < 2) return std::nullopt;
  const Constant* axes = source.constant(node.inputs[1]);
  if (axes == nullptr || !axes->is_numbers()) return std::nullopt;
  std::vector<std::int64_t> list;
  for (const Dim dim : axes->numbers) list.push_back(dim.value);
  return list;
}

/// Adds the attributes of a recognised node; false if it is not that operator after all.
using Finish = bool (*)(const Source& source, const Match& match, NodeProto& node);

bool plain(const Source&, const Match&, NodeProto&) { return true; }

bool tanh_form(const Source&, const Match&, NodeProto& node) {
  node.attributes.push_back(text_attribute("approximate", "tanh"));
  return true;
}

bool sixth(const Source& source, const Match& match, NodeProto&) {
  const NodeProto* gate = node_of(source, match, "HardSigmoid");
  const Attribute* alpha = gate == nullptr ? nullptr : find_attribute(*gate, "alpha");
  const Attribute* beta = gate == nullptr ? nullptr : find_attribute(*gate, "beta");
  return alpha != nullptr && std::abs(alpha->number - 1.0F / 6) < 1e-5F &&
         (beta == nullptr || beta->number == 0.5F);
}

bool normalise(const Source& source, const Match& match, NodeProto& node) {
  std::optional<std::vector<std::int64_t>> axes;
  for (const auto& [op, output] : match.nodes) {
    if (op != "ReduceMean" && op != "ReduceSum") continue;
    const NodeProto* mean = source.producer(output);
    const auto own = axes_of(source, *mean);
    const Attribute* keep = find_attribute(*mean, "keepdims");
    const bool gone = op == "ReduceMean" && keep != nullptr && keep->integer == 0;
    if (!own || gone || (axes && *axes != *own)) return false;
    axes = own;
  }
  const Constant* epsilon = source.constant(match.values.at("$e"));
  if (!axes || epsilon == nullptr) return false;
  Attribute list;
  list.name = "axes";
  list.integers = *axes;
  node.attributes.push_back(list);
  node.attributes.push_back(number_attribute("epsilon", epsilon->scalar().value_or(0)));
  if (const auto factor = match.values.find("$n"); factor != match.values.end()) {
    const Constant* share = source.constant(factor->second);
    node.attributes.push_back(number_attribute("share", share == nullptr ? 0 : share->scalar().value_or(0)));
  }
  return true;
}

/// True if the tokens are compared with 0, 1, 2, ...
bool one_hot(const Source& source, const Match& match, NodeProto&) {
  const Constant* tokens = source.constant(match.values.at("@r"));
  if (tokens == nullptr || !tokens->is_numbers()) return false;
  for (std::size_t i = 0; i < tokens->numbers.size(); ++i) {
    if (tokens->numbers[i] != Dim{static_cast<std::int64_t>(i)}) return false;
  }
  return true;
}

bool group_norm(const Source& source, const Match& match, NodeProto& node) {
  const NodeProto* instance = node_of(source, match, "InstanceNormalization");
  const Constant* ones = source.constant(match.values.at("@s"));
  const Constant* zeroes = source.constant(match.values.at("@t"));
  if (ones == nullptr || zeroes == nullptr || ones->shape.rank() != 1 || ones->uniform() != 1.0F ||
      zeroes->uniform() != 0.0F) {
    return false;
  }
  const Attribute* epsilon = find_attribute(*instance, "epsilon");
  node.attributes.push_back(integer_attribute("num_groups", ones->shape[0]));
  node.attributes.push_back(number_attribute("epsilon", epsilon == nullptr ? 1e-5F : epsilon->number));
  return true;
}

bool softmax(const Source& source, const Match& match, NodeProto& node) {
  const NodeProto* sum = node_of(source, match, "ReduceSum");
  const auto axes = axes_of(source, *sum);
  const Attribute* keep = find_attribute(*sum, "keepdims");
  const bool gone = keep != nullptr && keep->integer == 0 && node_of(source, match, "Expand") == nullptr;
  if (!axes || axes->size() != 1 || gone) return false;
  const NodeProto* largest = node_of(source, match, "ReduceMax");
  if (largest != nullptr && axes_of(source, *largest) != axes) return false;
  node.attributes.push_back(integer_attribute("axis", axes->front()));
  return true;
}

// x / (k + alpha mean)^beta, where the mean of squares is over `size` channels, as PyTorch writes it
bool local_response_norm(const Source& source, const Match& match, NodeProto& node) {
  const Attribute* kernel = find_attribute(*node_of(source, match, "AveragePool"), "kernel_shape");
  if (kernel == nullptr || kernel->integers.size() != 3 || kernel->integers[1] != 1 ||
      kernel->integers[2] != 1)
    return false;
  const auto number = [&](const char* letter) {
    return source.constant(match.values.at(letter))->scalar().value_or(0);
  };
  node.attributes = {integer_attribute("size", kernel->integers[0]), number_attribute("alpha", number("$a")),
                     number_attribute("bias", number("$k")), number_attribute("beta", number("$b"))};
  return true;
}

struct Pattern {
  std::string_view formula;
  std::string_view op;                       ///< that it stands for
  std::array<std::string_view, 3> inputs{};  ///< its inputs, by their letters
  Finish finish = plain;
};
// In the order in which they are sought: the longest forms come first.
constexpr std::array kPatterns{
    Pattern{"Mul(x,Sigmoid(x))", "Silu", {"x"}},
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
    Pattern{"MatMul(Cast(Equal(Expand(Reshape(x)),@r)),@w)", "Gather", {"@w", "x"}, one_hot},
    Pattern{"Log(Add(Exp(x),1))", "Softplus", {"x"}},
    Pattern{"Where(Greater(x,20),x,Softplus(x))", "Softplus", {"x"}},
    Pattern{"Min(Relu(x),6)", "Relu6", {"x"}},
    Pattern{"Div(x,Pow(Add(Mul(Squeeze(AveragePool(Pad(Reshape(Mul(x,x))))),$a),$k),$b))",
            "LRN",
            {"x"},
            local_response_norm},
    Pattern{"Add(Mul(<normalised>,@g),@b)", "Normalize", {"x", "@g", "@b"}, normalise},
    Pattern{"Add(Mul(x,<scaled>),Sub(@b,Mul(<mean>,<scaled>)))", "Normalize", {"x", "@g", "@b"}, normalise},
    Pattern{"Add(Mul(<centred>,<scaled>),@b)", "Normalize", {"x", "@g", "@b"}, normalise},
    Pattern{"Add(Mul(x,<inverse>),Sub(@b,Mul(<mean>,<inverse>)))", "Normalize", {"x", "", "@b"}, normalise},
    Pattern{"Sub(Mul(x,<inverse>),Mul(<mean>,<inverse>))", "Normalize", {"x"}, normalise},
    Pattern{"Mul(<normalised>,@g)", "Normalize", {"x", "@g"}, normalise},
    Pattern{"<normalised>", "Normalize", {"x"}, normalise},
    Pattern{"Add(Mul(Reshape(InstanceNormalization(Reshape(x),@s,@t)),@g),@b)",
            "GroupNormalization",
            {"x", "@g", "@b"},
            group_norm},
    Pattern{"Div(<exponential>,<total>)", "Softmax", {"x"}, softmax},
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

void rewrite(Source& source, NodeProto& node, const Pattern& pattern) {
  Match match;
  if (node.outputs.size() != 1 || !Matcher(source).matches(pattern.formula, node.outputs[0], match)) return;
  NodeProto made{.op = std::string(pattern.op),
                 .domain = kRecognisedDomain,
                 .name = node.name,
                 .inputs = {},
                 .outputs = node.outputs,
                 .attributes = {},
                 .captured = {},
                 .metadata = {}};
  for (const std::string_view letter : pattern.inputs) {
    const auto value = match.values.find(std::string(letter));
    made.inputs.push_back(value == match.values.end() ? "" : value->second);
  }
  while (made.inputs.back().empty()) made.inputs.pop_back();
  if (pattern.finish(source, match, made)) node = std::move(made);
}

}  // namespace

void recognise_patterns(Source& source) {
  for (std::size_t i = 0; i < source.nodes().size(); ++i) move_bounds(source, source.node(i));
  for (const Pattern& pattern : kPatterns) {
    for (std::size_t i = 0; i < source.nodes().size(); ++i) {
      NodeProto& node = source.node(i);
      // A formula begins with the operator of its last node, unless it is a rule.
      const bool possible = pattern.formula.front() == '<' || pattern.formula.starts_with(node.op + "(");
      if (possible && node.domain.empty()) rewrite(source, node, pattern);
    }
  }
}

}  // namespace convoke::interop::onnx
