#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "interop/keras/functional_model.hpp"
#include "interop/layer_settings.hpp"
#include "interop/model_builder.hpp"

namespace convoke::interop::keras_export {

/// A model that is written into `out`.
struct ComposedModel : WrittenModel<KerasTensor> {
  FunctionalModel& out;
  std::map<std::string, std::size_t> weighted = {};  ///< layers with weights by owner and part
  /// For a vector that a Flatten made from an image (C, H, W) without reordering: that image. Only dense
  /// layers read it.
  std::map<std::size_t, Shape> unordered = {};
};

/// Writes one node of our graph as layers of a Functional model. Images lie as (H, W, C) there, all other
/// values as here. Each layer is a function that returns the node's value; see src/interop/written.
class Composition : public WrittenNode<ComposedModel> {
 public:
  using WrittenNode::WrittenNode;

  /// The node's shape in Keras' order.
  Shape output() const;
  bool keras2() const { return model_.out.dialect() == KerasDialect::kKeras2; }
  const ComposedModel& model() const { return model_; }
  ComposedModel& model() { return model_; }

  /// Adds a layer without weights. `part`: "" for the node's main layer, else a word for its name. The mask
  /// of the inputs ends here unless the layer keeps masks.
  KerasTensor layer(std::string_view part, std::string_view class_name, Json config,
                    std::vector<KerasTensor> inputs, Shape output);
  KerasTensor layer(std::string_view part, std::string_view class_name, Json config, const KerasTensor& input,
                    Shape output) {
    return layer(part, class_name, std::move(config), std::vector<KerasTensor>{input}, std::move(output));
  }
  /// Calls a function.
  KerasTensor function(std::string_view part, KerasFunction function, std::vector<KerasTensor> inputs,
                       Shape output);
  /// Adds a layer with weights, or calls it again if another node with the same parameters did.
  KerasTensor weighted(std::string_view part, std::string_view class_name, Json config,
                       std::vector<KerasWeight> weights, const KerasTensor& input, Shape output);
  /// Multiplies the last axis by a constant matrix of `shape`: a frozen Dense layer.
  KerasTensor constant_dense(std::string_view part, const KerasTensor& input, const Shape& shape,
                             std::function<std::vector<float>()> make, Shape output);
  /// Returns the node's parameters for a Keras layer, as it has those of our layer `type`
  /// (keras::WeightLayout); empty: of the node's type.
  std::vector<KerasWeight> weights(std::string_view type = {}) const;

  KerasTensor reshape(std::string_view part, const KerasTensor& x, const Shape& shape);
  /// Reorders axes; counted from 1 as in Keras' Permute.
  KerasTensor permute(std::string_view part, const KerasTensor& x, const std::vector<std::int64_t>& dims);
  /// Adds zeroes around an image; nothing if there are none.
  KerasTensor zero_pad(const KerasTensor& image, const nn::Border& border);
  KerasTensor crop(std::string_view part, const KerasTensor& image, const nn::Border& border);
  /// Ends the mask, for a layer that would use it where ours does not.
  KerasTensor unmasked(const KerasTensor& x);
  std::vector<KerasTensor> unmasked_inputs();

  /// Throws Error: Keras has no layers for this.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string name(const nn::Node& of, std::string_view part) const;
  /// Adds a layer whose setting `key` is a border, by which the image grows (`sign` 1) or shrinks (-1).
  KerasTensor bordered(std::string_view part, std::string_view class_name, const char* key,
                       const KerasTensor& image, const nn::Border& border, std::int64_t sign);
};

/// Returns values for a Keras layer: seen as `shape`, their axes are reordered (see permute()). They must
/// outlive the writing of the file.
KerasWeight weight_of(std::span<const float> values, std::string name, const Shape& shape,
                      std::vector<std::size_t> axes, std::string path = {});

/// Returns the settings of a Normalization over the last axis.
Json normalization_config(const Statistics& statistics);

/// Adds the penalties to the settings of a layer with these weights.
void add_regularizers(const std::vector<KerasWeight>& weights, const nn::ParameterOptions& options,
                      Json& config);

/// Returns a value's shape in Keras' order.
Shape keras_shape(const Shape& shape);
/// Returns [height, width] or [time] of windows as JSON: `each` of the axes.
Json extents_of(const WindowAxes& axes, std::int64_t WindowAxis::*each);
/// True if `each` is above `most` along one of the axes.
bool any_above(const WindowAxes& axes, std::int64_t WindowAxis::*each, std::int64_t most);
/// Returns the padding of windows as a border of an image.
nn::Border border_of(const WindowAxes& axes);

/// Returns the nodes that read the value of a node, each as often as it does.
std::vector<const nn::Node*> readers_of(const nn::Graph& graph, std::size_t index);

/// A constant matrix (inputs, outputs) that maps one axis of an image.
struct AxisMatrix {
  std::int64_t inputs = 0, outputs = 0;
  std::function<std::vector<float>()> make;
};
/// Maps the rows and columns of an image, for layers that are linear there and unknown to Keras.
KerasTensor mix(Composition& c, const KerasTensor& image, const AxisMatrix& rows, const AxisMatrix& columns);

/// A layer of the table of plain layers: one layer of Keras.
KerasTensor compose_plain(Composition& c);
/// True if attention (src/interop/written/sequences.cpp) is written with this convolution before or after it.
bool is_in_attention(const nn::Graph& graph, const nn::Node& convolution);
/// Throws Error: Keras does not have the layer, and its layers cannot compose it.
KerasTensor refuse_layer(Composition& c);

/// Writes the nodes of one model, which reads `input`, and returns its output. `prefix` is for their names.
KerasTensor compose_model(FunctionalModel& out, const nn::Graph& graph, const ModelWeights& weights,
                          const std::string& prefix, const KerasTensor& input);

}  // namespace convoke::interop::keras_export
