#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "interop/layer_settings.hpp"
#include "interop/onnx/onnx_graph.hpp"

namespace convoke::interop::onnx_export {

using Integers = std::vector<std::int64_t>;

/// Writes one node of our graph as nodes of an ONNX graph. Values have our order of axes behind the batch:
/// images (N, C, H, W), sequences (N, L, F), vectors (N, F). Each layer is a function of this class's state;
/// see src/interop/written.
class Emission : public WrittenNode<const WrittenModel<std::string>> {
 public:
  /// `output`: the ONNX value that the node computes. All must outlive this object.
  Emission(OnnxGraph& out, const WrittenModel<std::string>& model, const nn::Node& written,
           std::string output)
      : WrittenNode(model, written), out_(out), output_(std::move(output)) {}

  std::vector<std::string> inputs() const;

  /// Adds an operator and returns its value, "<node>/<op>".
  std::string op(std::string_view type, std::vector<std::string> inputs,
                 const OnnxAttributes& attributes = {});
  /// Adds an operator that computes the node's value.
  void result(std::string_view type, std::vector<std::string> inputs, const OnnxAttributes& attributes = {});
  /// The same for its output `which`.
  std::string op_output(std::string_view type, std::vector<std::string> inputs, std::size_t which,
                        const OnnxAttributes& attributes = {});

  /// Stores a parameter as "<node>.<name>", or a name like it that is free, and returns that name. Shared
  /// parameters are stored once.
  std::string weight(std::string_view parameter, std::string_view name, const Shape& shape);
  /// Stores values that are made from parameters as "<node>.<name>", once too.
  std::string made_weight(std::string_view name, const Shape& shape, OnnxGraph::MakeValues make);
  /// Stores values for this node alone, as "<node>/<name>".
  std::string constant(std::string_view name, const Shape& shape, OnnxGraph::MakeValues make);
  std::string scalar(double value);
  std::string integers(std::string_view name, const std::vector<std::int64_t>& values);
  std::string integer(std::string_view name, std::int64_t value);

  /// Returns `value` as numbers of another type.
  std::string cast(const std::string& value, OnnxType to);
  /// Returns `value` with another shape of a sample; the batch stays.
  std::string reshape(const std::string& value, std::vector<std::int64_t> sample);
  void result_reshaped(const std::string& value, std::vector<std::int64_t> sample);
  /// Returns the input with the channels behind the batch: a sequence (N, L, F) becomes (N, F, L).
  std::string channels_first();
  /// Ends with `type`, whose value has the channels behind the batch, and restores the order of a sequence.
  void result_channels_first(std::string_view type, std::vector<std::string> inputs,
                             const OnnxAttributes& attributes = {});
  /// Returns the shape by which a value for each channel is broadcast over the input: (C, 1, 1) or (F).
  Shape per_channel() const;

 private:
  std::string own(std::string_view part) const;
  std::string owners(std::string_view part) const;
  std::vector<std::int64_t> with_batch(std::vector<std::int64_t> sample) const;

  OnnxGraph& out_;
  std::string output_;
};

/// Returns kernel_shape, pads and strides of a convolution or pooling.
OnnxAttributes window_attributes(const WindowAxes& axes);

/// A layer of the table of plain layers: one operator.
void emit_plain(Emission& e);

}  // namespace convoke::interop::onnx_export
