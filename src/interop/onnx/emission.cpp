#include "interop/onnx/emission.hpp"

#include <fmt/format.h>

#include "interop/plain_layers.hpp"

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

}  // namespace convoke::interop::onnx_export
