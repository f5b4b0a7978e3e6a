#include "interop/onnx/emission.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convoke/nn/losses/loss.hpp"
#include "interop/format.hpp"
#include "interop/layer_tables.hpp"
#include "interop/outputs.hpp"

namespace convoke::interop::onnx_export {

std::string Emission::own(std::string_view part) const {
  return fmt::format("{}{}/{}", model_.prefix, node.name, part);
}
std::string Emission::owners(std::string_view part) const {
  return fmt::format("{}{}.{}", model_.prefix, model_.graph.owner(node).name, part);
}

std::vector<std::string> Emission::inputs() const {
  std::vector<std::string> all;
  for (const std::size_t index : node.inputs) all.push_back(model_.values[index]);
  return all;
}

std::string Emission::op(std::string_view type, std::vector<std::string> inputs,
                         const OnnxAttributes& attributes) {
  return op_output(type, std::move(inputs), 0, attributes);
}

std::string Emission::op_output(std::string_view type, std::vector<std::string> inputs, std::size_t which,
                                const OnnxAttributes& attributes) {
  const std::string value = out_.unique(own(type));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < which; ++i) names.push_back(out_.unique(fmt::format("{}.{}", value, i)));
  names.push_back(value);
  out_.add_node(type, value, inputs, names, attributes);
  return value;
}

void Emission::result(std::string_view type, std::vector<std::string> inputs,
                      const OnnxAttributes& attributes) {
  out_.add_node(type, model_.prefix + node.name, inputs, {&output_, 1}, attributes);
}

std::string Emission::weight(std::string_view parameter, std::string_view name, const Shape& shape) {
  return out_.add_shared_floats(owners(name), shape, [values = values_of(parameter)] {
    return std::vector<float>(values.begin(), values.end());
  });
}
std::string Emission::made_weight(std::string_view name, const Shape& shape, OnnxGraph::MakeValues make) {
  return out_.add_shared_floats(owners(name), shape, std::move(make));
}
std::string Emission::constant(std::string_view name, const Shape& shape, OnnxGraph::MakeValues make) {
  return out_.add_floats(own(name), shape, std::move(make));
}
std::string Emission::scalar(double value) {
  return constant("constant", {}, [value] { return std::vector<float>{static_cast<float>(value)}; });
}
std::string Emission::integers(std::string_view name, const std::vector<std::int64_t>& values) {
  return out_.add_integers(own(name), {std::ssize(values)}, values);
}
std::string Emission::integer(std::string_view name, std::int64_t value) {
  return out_.add_integers(own(name), {}, {&value, 1});
}

std::string Emission::cast(const std::string& value, OnnxType to) {
  return op("Cast", {value}, {{"to", static_cast<std::int64_t>(to)}});
}

// Reshape copies an extent of 0 from its input.
std::vector<std::int64_t> Emission::with_batch(std::vector<std::int64_t> sample) const {
  sample.insert(sample.begin(), 0);
  return sample;
}
std::string Emission::reshape(const std::string& value, std::vector<std::int64_t> sample) {
  return op("Reshape", {value, integers("shape", with_batch(std::move(sample)))});
}
void Emission::result_reshaped(const std::string& value, std::vector<std::int64_t> sample) {
  result("Reshape", {value, integers("shape", with_batch(std::move(sample)))});
}

namespace {
const OnnxAttributes kSwapLast{{"perm", std::vector<std::int64_t>{0, 2, 1}}};
}  // namespace

std::string Emission::channels_first() {
  return input_shape().rank() == 2 ? op("Transpose", {input()}, kSwapLast) : input();
}
void Emission::result_channels_first(std::string_view type, std::vector<std::string> inputs,
                                     const OnnxAttributes& attributes) {
  if (input_shape().rank() != 2) return result(type, std::move(inputs), attributes);
  result("Transpose", {op(type, std::move(inputs), attributes)}, kSwapLast);
}

// Our padding becomes explicit: the input's size is known, and old auto_pad modes are read differently.
OnnxAttributes window_attributes(const WindowAxes& axes) {
  std::vector<std::int64_t> kernel, strides, pads;
  for (const WindowAxis& axis : axes) {
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    pads.push_back(axis.before);
  }
  for (const WindowAxis& axis : axes) pads.push_back(axis.after);
  return {{"kernel_shape", kernel}, {"pads", pads}, {"strides", strides}};
}

Shape Emission::per_channel() const {
  return input_shape().rank() == 3 ? Shape{channels(), 1, 1} : Shape{channels()};
}

void emit_plain(Emission& e) {
  const PlainLayer& layer = *find_named(plain_layers(), e.settings.type());
  OnnxAttributes attributes;
  if (const PlainLayer::Number& number = layer.number; !number.name.empty())
    attributes.push_back({std::string(number.onnx), static_cast<float>(e.settings.number(number.name))});
  e.result(layer.onnx, e.inputs(), attributes);
}

namespace {

constexpr const char* kInput = "input";
constexpr const char* kOutput = "output";

// The node whose operator computes the output: behind it there are only layers that pass their input on.
std::size_t last_operator(const nn::Graph& graph) {
  std::size_t last = graph.nodes().size() - 1;
  while (last > 0 && written_layer(graph.node(last)).emit == nullptr) last = graph.node(last).inputs[0];
  return last;
}

// Writes the nodes of one model that reads `input` and returns the value of its output, which is called
// `output` unless the network does nothing.
std::string emit_model(OnnxGraph& out, const nn::Graph& graph, const ModelWeights& weights,
                       const std::string& prefix, const std::string& input, const std::string& output) {
  WrittenModel<std::string> model{graph, weights, prefix, {input}};
  const std::size_t last = last_operator(graph);
  // All nodes name their outputs first: a weight, or a value within a node, that wants such a name gets
  // another one.
  for (const nn::Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    std::string value = prefix + node.name;
    if (written_layer(node).emit == nullptr) {
      value = model.values[node.inputs[0]];
    } else if (node.index == last) {
      value = output;
    } else {
      value = out.unique(value);
    }
    model.values.push_back(value);
  }
  for (const nn::Node& node : graph.nodes()) {
    const EmitLayer emit = node.layer == nullptr ? nullptr : written_layer(node).emit;
    if (emit == nullptr) continue;
    Emission emission(out, model, node, model.values[node.index]);
    emit(emission);
  }
  return model.values.back();
}

// (N, ...) raw values -> value * scale + shift
std::string emit_normalization(OnnxGraph& out, const run::ModelDescription& description) {
  const auto& [scale, shift, reversed] = description.normalization;
  const std::int64_t count = std::ssize(scale);
  const bool image = description.graph.input_shape().rank() == 3;
  const Shape shape = image ? Shape{count, 1, 1} : Shape{count};
  const auto add = [&](const char* op, const std::string& value, const std::string& operand,
                       const std::vector<float>& numbers) {
    const std::string name = out.unique(fmt::format("normalization/{}", op));
    const std::string inputs[] = {value, out.add_floats(operand, shape, [numbers] { return numbers; })};
    out.add_node(op, name, inputs, {&name, 1});
    return name;
  };
  const std::string channels =
      add("Add", add("Mul", kInput, "normalization.scale", scale), "normalization.shift", shift);
  if (!reversed) return channels;
  std::vector<std::int64_t> places;
  for (std::int64_t c = count; c-- > 0;) places.push_back(c);
  const std::string inputs[] = {channels, out.add_integers("normalization.channels", {count}, places)};
  const std::string name = out.unique("normalization/Gather");
  out.add_node("Gather", name, inputs, {&name, 1}, {{"axis", std::int64_t{1}}});
  return name;
}

void add_metadata(OnnxGraph& out, const run::ModelDescription& description, bool ensemble,
                  const ExportOptions& options) {
  const auto add = [&](const auto& facts) {
    for (const auto& [key, value] : facts.items()) {
      if (key == "class_names" && value.empty()) continue;
      out.add_metadata(key, value.is_string() ? value.template get<std::string>() : value.dump());
    }
  };
  add(input_facts(description, options));
  out.add_metadata("convoke_version", CONVOKE_VERSION);
  add(output_facts(description, ensemble));
}

// The mean of the members' probabilities.
void emit_ensemble(OnnxGraph& out, const run::ModelSet& models, std::span<const ModelWeights> weights,
                   const std::string& input) {
  const nn::Graph& graph = models.description.graph;
  const std::string_view missing = missing_activation(models.description);
  std::vector<std::string> votes;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string member = fmt::format("member_{}", i);
    std::string vote = emit_model(out, graph, weights[i], member + ".", input, member + "/output");
    if (!missing.empty()) {
      const std::string probabilities = member + "/probabilities";
      const OnnxAttributes axis{{"axis", std::int64_t{-1}}};
      const bool softmax = missing == "softmax";
      out.add_node(softmax ? "Softmax" : "Sigmoid", probabilities, {&vote, 1}, {&probabilities, 1},
                   softmax ? axis : OnnxAttributes{});
      vote = probabilities;
    }
    votes.push_back(vote);
  }
  const std::string output = kOutput;
  out.add_node("Mean", "mean", votes, {&output, 1});
}

}  // namespace

std::vector<std::filesystem::path> write_onnx(const std::filesystem::path& file, const run::ModelSet& models,
                                              const ExportOptions& options) {
  const run::ModelDescription& description = models.description;
  const nn::Graph& graph = description.graph;
  std::vector<ModelWeights> weights;
  for (const run::Member& member : models.members) weights.emplace_back(graph, member.parameters);

  OnnxGraph out;
  const bool tokens = graph.input_shape().type == nn::ValueType::kToken;
  out.add_input(kInput, tokens ? OnnxType::kInt32 : OnnxType::kFloat, graph.input_shape());
  out.add_output(kOutput, graph.output_shape());
  const std::string input = normalizes(description, options) ? emit_normalization(out, description) : kInput;
  const bool ensemble = weights.size() > 1;
  if (ensemble) {
    emit_ensemble(out, models, weights, input);
  } else {
    const std::string output = emit_model(out, graph, weights.front(), "", input, kOutput);
    const std::string called = kOutput;
    if (output != called) out.add_node("Identity", "identity", {&output, 1}, {&called, 1});
  }
  add_metadata(out, description, ensemble, options);
  return out.write(file, "convoke", options.most_onnx_bytes);
}

}  // namespace convoke::interop::onnx_export
