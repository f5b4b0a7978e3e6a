#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convoke/interop/model_io.hpp"
#include "interop/model_builder.hpp"
#include "interop/onnx/source.hpp"
#include "interop/onnx/view.hpp"

namespace convoke::interop::onnx {

/// The input of a model, and how its axes are those of our graph's input.
struct Input {
  std::string name;
  nn::ValueSpec sample;        ///< our input: (C, H, W), (L, F), (F), or tokens (L)
  std::vector<int> roles;      ///< for View::of
  std::int64_t batch = 1;      ///< with which the file was exported
  bool open_batch = false;     ///< the file leaves it open
  bool channels_last = false;  ///< the file's input is (N, H, W, C), ours (C, H, W)
};

/// Chooses the input that the nodes in `order` read. Throws Error if they read none or several, or if a size
/// is neither in the file nor in `options`.
Input choose_input(const Source& source, const std::vector<std::size_t>& order, const ImportOptions& options);

/// Facts about an ONNX value during the import.
using Known = std::variant<Constant, View>;
inline std::vector<Dim> dims_of(const Known& value) {
  return std::visit([](const auto& one) { return one.dims(); }, value);
}

/// The state of an import.
struct Import {
  Import(const Source& from, const Input& chosen) : source(from), input(chosen), builder(chosen.sample) {}

  const Source& source;
  const Input& input;
  ModelBuilder builder;
  std::map<std::string, Known> values = {};
  std::set<const NodeProto*> absorbed = {};  ///< an earlier layer has taken in their constant
  std::deque<ModelProto> branches = {};      ///< of If nodes whose condition is known
  /// Layers with weights that later nodes may share, by the names of their initializers.
  struct Owner {
    std::size_t node = 0;
    Constant weight;
  };
  std::multimap<std::string, Owner> owners = {};

  const Known* find(const std::string& name) const;
  /// Moves the numbers of a parameter to where `node` reads them, in the order of the file's tensor.
  void give(std::size_t node, std::string_view parameter, const Constant& constant);
  /// True if `node` comes after a layer with weights.
  bool is_learned(std::size_t node);
  /// Counts the numbers of computed constants. Throws Error if they are many more than the file's.
  void count_numbers(std::int64_t numbers);

 private:
  std::vector<bool> learned_ = {};  ///< of the first nodes
  std::int64_t computed_ = 0;
};

/// One node of the file, and what its operator needs to become layers.
class Call {
 public:
  Call(Import& import, const NodeProto& node) : import_(import), node_(node) {}

  Import& import() { return import_; }
  ModelBuilder& builder() { return import_.builder; }
  const nn::Graph& graph() const { return import_.builder.graph(); }
  const NodeProto& node() const { return node_; }
  std::int64_t opset() const { return import_.source.model().opset; }

  std::size_t inputs() const { return node_.inputs.size(); }
  /// True if the input is given.
  bool has(std::size_t input) const { return input < node_.inputs.size() && !node_.inputs[input].empty(); }
  const Known& value(std::size_t input) const;
  bool is_constant(std::size_t input) const;
  const View& view(std::size_t input) const;
  const Constant& constant(std::size_t input, std::string_view what) const;
  /// Returns the whole numbers of a constant input, none of which depends on the batch.
  std::vector<std::int64_t> numbers(std::size_t input, std::string_view what) const;
  /// Returns the whole numbers of a constant input that is a shape.
  std::vector<Dim> shape(std::size_t input) const;

  bool has_attribute(const std::string& name) const { return find_attribute(node_, name) != nullptr; }
  std::int64_t integer(const std::string& name, std::int64_t fallback) const {
    return attribute_of(node_, name, &Attribute::integer, fallback);
  }
  double number(const std::string& name, double fallback) const {
    return attribute_of(node_, name, &Attribute::number, fallback);
  }
  std::string text(const std::string& name, const std::string& fallback) const {
    return attribute_of(node_, name, &Attribute::text, fallback);
  }
  std::vector<std::int64_t> integers(const std::string& name, std::vector<std::int64_t> fallback = {}) const {
    return attribute_of(node_, name, &Attribute::integers, std::move(fallback));
  }
  /// Returns whole numbers from an attribute (older opsets) or an input (newer ones); none if both are left
  /// out.
  std::optional<std::vector<std::int64_t>> list(const std::string& attribute, std::size_t input) const;

  /// True if the node stands for the nodes of a formula: see patterns.cpp.
  bool is_recognized() const { return node_.domain == kRecognizedDomain; }
  /// Refuses a formula that reshapes to other dimensions than these, which its input gives if it has any; -1
  /// stands for any dimension.
  void expect_shape(std::size_t input, const std::vector<Dim>& wanted) const;

  /// Returns an axis of a value of that rank, which may be counted from the end. Throws Error.
  std::size_t axis(std::int64_t axis, std::size_t rank) const;
  /// Returns axes, each of them once. Throws Error.
  std::vector<std::size_t> axes(const std::vector<std::int64_t>& list, std::size_t rank) const;

  /// Adds a layer. Its name comes from `weights`, if they have one as in a state dict
  /// ("layer1.0.conv1.weight"), otherwise from the file's node.
  std::size_t add(const Settings& layer, std::vector<std::size_t> inputs, const Constant* weights = nullptr);
  /// Adds a layer with a weight, which names it, and a bias. A layer that already uses the same initializers
  /// is applied again.
  std::size_t add_weighted(const Settings& layer, std::vector<std::size_t> inputs, const Constant& weight,
                           const std::optional<Constant>& bias = {});
  /// Adds a layer that has one input and keeps its shape, whatever the order of axes is.
  View elementwise(const View& view, const Settings& layer);

  /// Says what an output is.
  void give(Known value, std::size_t output = 0);
  /// True if the output is used.
  bool wants(std::size_t output) const;

  /// Takes in the constant of an Add that follows the first output as a bias of `count` numbers along `axis`,
  /// if nothing else reads what lies between.
  std::optional<Constant> following_bias(std::size_t axis, std::int64_t count);

  [[noreturn]] void refuse(const std::string& why, std::string hint = {}) const;

 private:
  Import& import_;
  const NodeProto& node_;
};

/// Returns the name of a layer for the initializer of its weights; empty if it is not from a state dict.
std::string module_of(std::string_view weight);
/// Returns a name for the layer of a node: for "/layer1/layer1.0/conv1/Conv" of PyTorch, "layer1.0.conv1".
std::string module_of_node(std::string_view node, std::string_view op);

/// An operator that becomes layers or constants.
struct Operator {
  std::string_view name;
  void (*convert)(Call& call);
  bool of_constants = false;  ///< also for inputs that are all constant
};

/// Returns the names of ONNX' operators that are converted to layers.
std::set<std::string_view> operator_names();

}  // namespace convoke::interop::onnx
