#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "interop/layer_tables.hpp"
#include "interop/onnx/operators.hpp"

// Element-wise operators. Their operands are brought to one shape, as in NumPy.

namespace convoke::interop::onnx {
namespace {

/// Multiplies the channels of `x` by one number each, if `by` is 1 along all other axes; as in
/// squeeze-and-excitation.
std::optional<View> channels_multiplied(Call& call, const View& x, const View& by) {
  if (by.rank() > x.rank()) return std::nullopt;
  const View factor = with_rank(by, x.rank());
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (factor.has_batch(axis) != x.has_batch(axis)) return std::nullopt;
    if (factor.axes[axis].empty() || factor.axes[axis] == View::Axis{View::kBatch}) continue;
    if (factor.dim(axis) != x.dim(axis)) return std::nullopt;
    axes.push_back(axis);
  }
  if (factor.dims() == x.dims() || axes.empty()) return std::nullopt;
  const View image = with_channels(call.builder(), x, atoms_of(x, axes));
  const std::size_t vector = arrange(call.builder(), factor, {atoms_of(factor, axes)});
  return image.with_node(call.add({{"layer", "multiply"}}, {image.node, vector}));
}

/// Returns the inputs of a node with two: the first that depends on the sample, and the other.
struct Operands {
  const View* x = nullptr;
  const View* other = nullptr;         ///< or
  const Constant* constant = nullptr;  ///< this
  bool swapped = false;                ///< x is the second input
};
Operands operands(Call& call) {
  if (call.inputs() != 2) call.refuse(fmt::format("has {} inputs instead of 2", call.inputs()));
  Operands result;
  result.swapped = call.is_constant(0);
  result.x = &call.view(result.swapped ? 1 : 0);
  const std::size_t second = result.swapped ? 0 : 1;
  if (call.is_constant(second)) {
    result.constant = &call.constant(second, "operand");
  } else {
    result.other = &call.view(second);
  }
  return result;
}

/// Notes that a single number is not trained, which PyTorch may do with a parameter.
void note_fixed(Call& call, const View& view, const Constant& constant) {
  const std::string& name = constant.name;
  const bool parameter = !name.empty() && name.find_first_of("/:") == name.npos && !name.starts_with("val_");
  if (!parameter || constant.whole || !constant.scalar() || !call.import().is_learned(view.node)) return;
  call.builder().note(
      "Single numbers that multiply or are added after the first layer with weights stay as they are: "
      "training does not change them.");
}

void convert_add(Call& call) {
  const Operands in = operands(call);
  if (call.import().absorbed.contains(&call.node())) return call.give(*in.x);
  call.give(in.constant != nullptr ? shifted_by(call, *in.x, *in.constant)
                                   : merged(call, "add", {*in.x, *in.other}));
}

/// Returns a constant with another number for each number of it.
template <class Map>
Constant mapped(const Constant& constant, Map map) {
  std::vector<float> values = constant.floats();
  std::transform(values.begin(), values.end(), values.begin(), map);
  Constant result = Constant::of_floats(constant.shape, std::move(values));
  result.name = constant.name;
  return result;
}

void convert_subtract(Call& call) {
  const Operands in = operands(call);
  if (in.constant == nullptr) return call.give(merged(call, "subtract", {*in.x, *in.other}));
  if (in.swapped) return call.give(shifted_by(call, rescaled(call, *in.x, -1, 0), *in.constant));
  call.give(shifted_by(call, *in.x, mapped(*in.constant, [](float v) { return -v; })));
}

void convert_multiply(Call& call) {
  const Operands in = operands(call);
  if (in.constant != nullptr) return call.give(scaled_by(call, *in.x, *in.constant));
  if (auto result = channels_multiplied(call, *in.x, *in.other)) return call.give(*result);
  if (auto result = channels_multiplied(call, *in.other, *in.x)) return call.give(*result);
  call.give(merged(call, "multiply", {*in.x, *in.other}));
}

void convert_divide(Call& call) {
  const Operands in = operands(call);
  if (in.constant == nullptr || in.swapped) return convert_function(call);
  call.give(scaled_by(call, *in.x, mapped(*in.constant, [](float v) { return 1 / v; })));
}

void convert_negate(Call& call) { call.give(rescaled(call, call.view(0), -1, 0)); }

void convert_power(Call& call) {
  if (call.is_constant(0) || !call.is_constant(1)) return convert_function(call);
  const View& x = call.view(0);
  const std::optional<float> exponent = call.constant(1, "exponent").scalar();
  if (exponent == 1.0F) return call.give(x);
  if (exponent != 2.0F && exponent != 3.0F) return convert_function(call);
  const std::vector<std::size_t> factors(exponent == 2.0F ? 2 : 3, x.node);
  call.give(x.with_node(call.add({{"layer", "multiply"}}, factors)));
}

/// Returns the inputs that depend on the sample.
std::vector<View> views_of(Call& call) {
  std::vector<View> all;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.is_constant(i)) all.push_back(call.view(i));
  }
  return all;
}

void convert_maximum(Call& call) {
  const std::vector<View> all = views_of(call);
  if (all.size() < call.inputs()) return convert_function(call);
  call.give(all.size() == 1 ? all[0] : merged(call, "maximum", all));
}

void convert_sum(Call& call) {
  const bool mean = call.node().op == "Mean";
  const std::vector<View> all = views_of(call);
  View result = all.size() == 1 ? all[0] : merged(call, mean ? "average" : "add", all);
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.is_constant(i)) continue;
    if (mean) call.refuse("averages with a constant");
    result = shifted_by(call, result, call.constant(i, "operand"));
  }
  call.give(result);
}

/// Returns the numbers of a constant as a value over the samples of `like`: where(0, x, 0) + constant.
View filled(Call& call, const View& like, const Constant& constant) {
  const View result = shifted_by(call, computed(call, "where", {0.0, like, 0.0}), constant);
  call.builder().freeze(result.node);
  return result;
}

Operand operand_of(Call& call, std::size_t input, const View& like) {
  if (!call.is_constant(input)) return call.view(input);
  const Constant& constant = call.constant(input, "operand");
  const bool widens = broadcast(like.dims(), constant.dims()) != like.dims();
  if (widens || !constant.uniform()) return filled(call, like, constant);
  if (std::isnan(*constant.uniform())) call.refuse("computes with a constant that is not a number");
  return static_cast<double>(*constant.uniform());
}

}  // namespace

View with_rank(const View& view, std::size_t rank) {
  View wide = view;
  if (rank > view.rank()) wide.axes.insert(wide.axes.begin(), rank - view.rank(), View::Axis{});
  return wide;
}

View repeated(Call& call, const View& view, const std::vector<Dim>& to) {
  if (to.size() > View::kMostAxes) call.refuse(fmt::format("repeats its input along {} axes", to.size()));
  View x = with_rank(view, to.size());
  std::vector<std::size_t> axes;
  std::int64_t copies = 1;
  constexpr std::int64_t kMostCopies = 1 << 20;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (x.dim(axis) == to[axis]) continue;
    if (x.dim(axis) != Dim{1} || to[axis].batch || to[axis].value < 1 || to[axis].value > kMostCopies) {
      call.refuse(fmt::format("cannot repeat {} to {}", to_string(view.dims()), to_string(to)));
    }
    axes.push_back(axis);
    copies *= to[axis].value;
    if (copies > kMostCopies) call.refuse("repeats its input too often");
  }
  if (axes.empty()) return x;
  // (K) -> (K, 1, 1) -> (K, 1, copies) by nearest neighbors
  View::Axis all;
  for (int atom = 0; atom < static_cast<int>(x.atoms.size()); ++atom) all.push_back(atom);
  const std::size_t pixel = arrange(call.builder(), x, {all, {}, {}});
  x.node = call.add({{"layer", "resize"}, {"size", Value::Array{1, copies}}}, {pixel});
  for (const std::size_t axis : axes) {
    x.axes[axis] = {static_cast<int>(x.atoms.size())};
    x.atoms.push_back(to[axis].value);
  }
  return x;
}

std::vector<View> broadcast_all(Call& call, std::vector<View> views) {
  std::vector<Dim> to = views.front().dims();
  for (const View& view : views) to = broadcast(to, view.dims());
  for (View& view : views) view = repeated(call, view, to);
  return views;
}

Spread spread(Call& call, const View& view, const Constant& constant) {
  const std::vector<Dim> own = constant.dims();
  const std::vector<Dim> to = broadcast(view.dims(), own);
  const View x = repeated(call, view, to);
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t axis = i + to.size() - own.size();
    if (own[i].value == 1) continue;
    if (x.has_batch(axis)) call.refuse("has a constant that differs between the samples of a batch");
    axes.push_back(axis);
  }
  return {with_channels(call.builder(), x, atoms_of(x, axes)),
          constant.reshaped({constant.shape.elements()})};
}

Aligned aligned(Call& call, const std::vector<View>& views) {
  const View& first = views.front();
  const auto shape_of = [&](const View& view) -> const Shape& { return call.graph().node(view.node).shape; };
  Aligned result{{}, first};
  const bool alike = std::all_of(views.begin(), views.end(), [&](const View& view) {
    return view.atoms == first.atoms && view.axes == first.axes && shape_of(view) == shape_of(first);
  });
  if (alike) {
    for (const View& view : views) result.nodes.push_back(view.node);
    return result;
  }
  const std::vector<std::size_t> order = natural_order(call.builder(), first);
  if (!order.empty()) {
    for (const View& view : views) result.nodes.push_back(arranged(call.builder(), view, order).node);
    // The atoms may divide the axes of each input differently: one atom for each axis does for all.
    std::vector<int> roles(first.rank(), View::kOne);
    for (std::size_t i = 0; i < order.size(); ++i) roles[order[i]] = static_cast<int>(i);
    roles[*first.batch_axis()] = View::kBatch;
    result.view = View::of(call.graph(), result.nodes[0], roles);
    return result;
  }
  for (const View& view : views) result.nodes.push_back(flattened(call.builder(), view).node);
  View whole = View::of(call.graph(), result.nodes[0], {View::kBatch, 0});
  const std::optional<View> divided = whole.reshaped(first.dims());
  if (!divided) call.refuse(fmt::format("mixes the batch with other axes: {}", to_string(first.dims())));
  result.view = *divided;
  return result;
}

View merged(Call& call, std::string_view layer, const std::vector<View>& views) {
  Aligned inputs = aligned(call, broadcast_all(call, views));
  return inputs.view.with_node(call.add({{"layer", layer}}, std::move(inputs.nodes)));
}

View computed(Call& call, std::string_view function, const std::vector<Operand>& operands) {
  Value::Array list;
  std::vector<View> views;
  for (const Operand& operand : operands) {
    const double* number = std::get_if<double>(&operand);
    list.emplace_back(number == nullptr ? "x" : fmt::format("{}", *number));
    if (number == nullptr) views.push_back(std::get<View>(operand));
  }
  Aligned inputs = aligned(call, broadcast_all(call, views));
  const Settings layer{{"layer", "elementwise"}, {"function", function}, {"operands", std::move(list)}};
  return inputs.view.with_node(call.add(layer, std::move(inputs.nodes)));
}

View rescaled(Call& call, const View& view, double scale, double offset) {
  if (scale == 1 && offset == 0) return view;
  if (!std::isfinite(scale) || !std::isfinite(offset)) {
    call.refuse("computes with a constant that is not finite");
  }
  return call.elementwise(view, {{"layer", "rescale"}, {"scale", scale}, {"offset", offset}});
}

View scaled_by(Call& call, const View& view, const Constant& constant) {
  note_fixed(call, view, constant);
  if (const auto factor = constant.scalar(); factor && constant.shape.rank() <= view.rank()) {
    return rescaled(call, view, *factor, 0);
  }
  const Spread operand = spread(call, view, constant);
  const std::vector<float> values = operand.constant.floats();
  const bool positive = std::all_of(values.begin(), values.end(), [](float v) { return v > 0; });
  if (positive && !call.import().is_learned(view.node)) {
    const std::vector<double> scale(values.begin(), values.end()), shift(values.size(), 0);
    return call.elementwise(operand.view, standardize_by(statistics_of(scale, shift)));
  }
  const std::size_t node = call.add({{"layer", "channel_scale"}}, {operand.view.node}, &constant);
  call.import().give(node, "gamma", operand.constant);
  return operand.view.with_node(node);
}

// A batch norm with fixed statistics: (x - 0) / sqrt(variance + epsilon) + beta with variance = 1 - epsilon.
View shifted_by(Call& call, const View& view, const Constant& constant) {
  note_fixed(call, view, constant);
  if (const auto offset = constant.scalar(); offset && constant.shape.rank() <= view.rank()) {
    return rescaled(call, view, 1, *offset);
  }
  const Spread operand = spread(call, view, constant);
  if (!call.import().is_learned(view.node)) {
    const std::vector<float> values = operand.constant.floats();
    const std::vector<double> scale(values.size(), 1), shift(values.begin(), values.end());
    return call.elementwise(operand.view, standardize_by(statistics_of(scale, shift)));
  }
  constexpr double kEpsilon = 0x1p-10;
  const std::size_t node =
      call.add({{"layer", "batch_norm"}, {"epsilon", kEpsilon}, {"scale", false}, {"frozen", true}},
               {operand.view.node}, &constant);
  const auto count = static_cast<std::size_t>(operand.constant.shape.elements());
  call.import().give(node, "beta", operand.constant);
  call.builder().give(node, "running_mean", std::vector<float>(count, 0.0F));
  call.builder().give(node, "running_variance", std::vector<float>(count, 1 - static_cast<float>(kEpsilon)));
  return operand.view.with_node(node);
}

void convert_function(Call& call) {
  const ElementFunction& named = *find_named(element_functions(), call.node().op, &ElementFunction::onnx);
  std::size_t first = 0;
  while (call.is_constant(first)) ++first;  // operators with constants alone are folded
  const View like = call.view(first);
  std::vector<Operand> operands;
  if (named.form.before) operands.emplace_back(*named.form.before);
  for (std::size_t i = 0; i < call.inputs(); ++i) operands.push_back(operand_of(call, i, like));
  if (named.form.after) operands.emplace_back(*named.form.after);
  if (named.form.swapped) std::reverse(operands.begin(), operands.end());
  const bool any_number = call.node().op == "Max" || call.node().op == "Min";  // of inputs
  while (any_number && operands.size() > 2) {
    const Operand pair = computed(call, named.name, {operands[0], operands[1]});
    operands.erase(operands.begin());
    operands.front() = pair;
  }
  call.give(operands.size() == 1 && any_number ? std::get<View>(operands[0])
                                               : computed(call, named.name, operands));
}

bool is_boolean(const Source& source, const std::string& value) {
  constexpr std::array<std::string_view, 9> kKept{"Cast",    "Expand",  "Flatten",   "Gather",   "Identity",
                                                  "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
  const NodeProto* node = source.producer(value);
  if (node == nullptr || node->inputs.empty()) return false;
  const ElementFunction* function = find_named(element_functions(), node->op, &ElementFunction::onnx);
  if (function != nullptr) return function->form.boolean;
  const bool kept = std::find(kKept.begin(), kKept.end(), node->op) != kKept.end();
  return kept && is_boolean(source, node->inputs[0]);
}

View boolean_of(Call& call, const View& x) { return computed(call, "where", {x, 1.0, 0.0}); }

const std::initializer_list<Operator> kArithmeticOperators{
    Operator{"Add", convert_add},   Operator{"Div", convert_divide},   Operator{"Max", convert_maximum},
    Operator{"Mean", convert_sum},  Operator{"Mul", convert_multiply}, Operator{"Neg", convert_negate},
    Operator{"Pow", convert_power}, Operator{"Sub", convert_subtract}, Operator{"Sum", convert_sum},
};

}  // namespace convoke::interop::onnx
