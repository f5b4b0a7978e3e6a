#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "interop/onnx/constant.hpp"
#include "interop/onnx/model_proto.hpp"

namespace convoke::interop::onnx {

/// The graph of a model, with its functions in place of their calls.
class Source {
 public:
  /// `folder`: of the model file, for external data. Throws Error if a function is missing or too deep, or if
  /// two nodes give one value.
  Source(ModelProto model, const std::filesystem::path& folder);

  const ModelProto& model() const { return model_; }
  const std::vector<NodeProto>& nodes() const { return model_.nodes; }
  NodeProto& node(std::size_t index) { return model_.nodes[index]; }

  /// Returns the constant of that name: an initializer or the output of a Constant node; null for others.
  const Constant* constant(const std::string& value) const;
  const std::map<std::string, Constant>& constants() const { return constants_; }
  /// Makes `value` a constant.
  void set_constant(const std::string& value, Constant constant);
  /// Returns the node that gives a value; null for inputs and constants.
  const NodeProto* producer(const std::string& value) const;
  /// Returns the nodes that read a value.
  const std::vector<std::size_t>& consumers(const std::string& value) const;
  bool is_output(const std::string& value) const;

  /// Finds producers and consumers again, after nodes have changed.
  void index();

  /// Leaves out all nodes but these, and all outputs but one.
  void keep(const std::vector<std::size_t>& nodes, const std::string& output);

  /// Returns the nodes that `output` needs, each after the nodes that it needs. Throws Error naming a node of
  /// a cycle, or a value that nothing gives.
  std::vector<std::size_t> order(const std::string& output) const;

 private:
  void inline_functions();
  void capture();

  ModelProto model_;
  std::map<std::string, Constant> constants_;
  std::unordered_map<std::string, std::size_t> producers_;
  std::unordered_map<std::string, std::vector<std::size_t>> consumers_;
};

/// Returns the value of a Constant node, if it has one that Convoke reads.
std::optional<Constant> constant_of(const NodeProto& node, const std::filesystem::path& folder);
/// Returns the attribute, or null.
const Attribute* find_attribute(const NodeProto& node, const std::string& name);
/// Returns a value of the attribute, such as &Attribute::integer; `fallback` if the node lacks it.
template <class Stored, class T>
T attribute_of(const NodeProto& node, const std::string& name, Stored Attribute::*value, T fallback) {
  const Attribute* attribute = find_attribute(node, name);
  return attribute == nullptr ? fallback : T(attribute->*value);
}
/// Returns `node "/conv1/Conv" (Conv)` for messages.
std::string describe(const NodeProto& node);

/// The domain of operators that stand for several nodes.
inline constexpr const char* kRecognizedDomain = "convoke";

/// Recognizes operators that exporters spell out, x * Sigmoid(x) or the eight nodes of a layer normalization,
/// and puts one node in the place of the last of their nodes.
void recognize_patterns(Source& source);

}  // namespace convoke::interop::onnx
