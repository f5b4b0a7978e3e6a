#include "interop/onnx/formula.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace convoke::interop::onnx {
namespace {

struct Rule {
  std::string_view name, formula;
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
    Rule{"negative", "Less(Cast(x),0)"},
    Rule{"negative", "Less(x,0)"},
    Rule{"mean", "ReduceMean(x)"},
    Rule{"mean", "Expand(Reshape(<sum>,s),s)"},
    Rule{"sum", "Mul(ReduceSum(x),$n)"},
    Rule{"squares", "Mul(ReduceSum(Mul(x,x)),$n)"},
    Rule{"centered", "Sub(x,<mean>)"},
    Rule{"square", "Pow(<centered>,2)"},
    Rule{"square", "Mul(<centered>,<centered>)"},
    Rule{"variance", "ReduceMean(<square>)"},
    Rule{"variance", "Sub(ReduceMean(Mul(x,x)),Mul(<mean>,<mean>))"},
    Rule{"variance", "Sub(ReduceMean(Pow(x,2)),Pow(<mean>,2))"},
    Rule{"variance", "Expand(Reshape(Max(Sub(<squares>,Mul(<sum>,<sum>)),0),s),s)"},
    Rule{"deviation", "Sqrt(Add(<variance>,$e))"},
    Rule{"deviation", "Pow(Add(<variance>,$e),0.5)"},
    Rule{"inverse", "Reciprocal(<deviation>)"},
    Rule{"inverse", "Div(1,<deviation>)"},
    Rule{"inverse", "Pow(Add(<variance>,$e),-0.5)"},
    Rule{"scaled", "Mul(<inverse>,@g)"},
    Rule{"normalized", "Div(<centered>,<deviation>)"},
    Rule{"normalized", "Mul(<centered>,<inverse>)"},
    Rule{"exponential", "Exp(Sub(x,ReduceMax(x)))"},
    Rule{"exponential", "Exp(Sub(x,Expand(Reshape(Max(ReduceMax(x),$i),s),s)))"},
    Rule{"exponential", "Exp(x)"},
    Rule{"query", "Mul(q,@a)"},
    Rule{"query", "Div(q,@d)"},
    Rule{"query", "q"},
    Rule{"key", "Mul(k,@b)"},
    Rule{"key", "Div(k,@e)"},
    Rule{"key", "k"},
    Rule{"scores", "MatMul(<query>,<key>)"},
    Rule{"scores", "Mul(MatMul(<query>,<key>),@c)"},
    Rule{"scores", "Div(MatMul(<query>,<key>),@f)"},
    Rule{"total", "ReduceSum(<exponential>)"},
    Rule{"total", "Expand(Reshape(ReduceSum(<exponential>),s),s)"},
    // Convoke's own recurrent layers that skip masked tokens t (src/interop/written/sequences.cpp)
    Rule{"present", "Cast(Not(Equal(t,Cast(0))))"},
    Rule{"lengths", "Cast(ReduceSum(<present>))"},
    Rule{"compacted", "GatherND(x,Unsqueeze(TopK(Sub(@p,Mul(<present>,$l)),@k),@n))"},
    Rule{"last", "Max(Sub(CumSum(<present>,$a),1),0)"},
    Rule{"shown", "Min(CumSum(<present>,$a),1)"},
    Rule{"shown", "<present>"},
};

bool bind(std::string_view letter, const std::string& value, Match& match) {
  const auto [known, added] = match.values.emplace(letter, value);
  return added || known->second == value;
}

/// Divides "a,Op(b,c)" at its outer commas.
std::vector<std::string_view> arguments(std::string_view list) {
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

}  // namespace

Matcher::Matcher(const Source& source) : source_(source) {
  // Nodes come after those that they need. Shapes are known when the nodes become layers.
  for (const NodeProto& node : source.nodes()) {
    const bool known =
        node.op == "Shape" ||
        (!node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(),
                                             [&](const std::string& input) { return is_static(input); }));
    if (known) static_.insert(node.outputs.begin(), node.outputs.end());
  }
}

bool Matcher::matches(std::string_view formula, const std::string& value, Match& match) const {
  return fits(formula, resolved(value), match);
}

bool Matcher::fits(std::string_view formula, const std::string& value, Match& match) const {
  if (formula.front() == '<') return fits_rule(formula.substr(1, formula.size() - 2), value, match);
  const std::size_t open = formula.find('(');
  if (open != std::string_view::npos) return fits_node(formula, open, value, match);
  if (formula.front() == '$') return scalar(value) && bind(formula, value, match);
  if (formula.front() == '@') return is_static(value) && bind(formula, value, match);
  if (formula.front() >= 'a' && formula.front() <= 'z') return bind(formula, value, match);
  const double wanted = std::strtod(std::string(formula).c_str(), nullptr);
  const std::optional<double> number = scalar(value);
  return number && std::abs(*number - wanted) <= 0x1p-11 * std::abs(wanted);
}

bool Matcher::fits_rule(std::string_view name, const std::string& value, Match& match) const {
  for (const Rule& rule : kRules) {
    if (rule.name != name) continue;
    Match attempt = match;
    if (!fits(rule.formula, value, attempt)) continue;
    match = std::move(attempt);
    return true;
  }
  return false;
}

bool Matcher::fits_node(std::string_view formula, std::size_t open, const std::string& value,
                        Match& match) const {
  const std::string_view op = formula.substr(0, open);
  const NodeProto* node = source_.producer(value);
  if (node == nullptr || node->op != op || (!node->domain.empty() && node->domain != kRecognizedDomain))
    return false;
  const std::vector<std::string_view> parts = arguments(formula.substr(open + 1, formula.size() - open - 2));
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

/// Returns the value before Identity nodes.
std::string Matcher::resolved(std::string value) const {
  for (int steps = 0; steps < 16; ++steps) {
    const NodeProto* node = source_.producer(value);
    if (node == nullptr || node->op != "Identity" || node->inputs.size() != 1) break;
    value = node->inputs[0];
  }
  return value;
}

std::optional<double> Matcher::scalar(const std::string& value) const {
  const Constant* constant = source_.constant(resolved(value));
  if (constant == nullptr || constant->shape.elements() != 1) return std::nullopt;
  return constant->scalar();
}

bool Matcher::is_static(const std::string& value) const {
  return source_.constant(value) != nullptr || static_.contains(value);
}

}  // namespace convoke::interop::onnx
