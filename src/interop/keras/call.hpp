#pragma once
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "interop/keras/network.hpp"
#include "interop/keras/weights.hpp"
#include "interop/model_builder.hpp"

namespace convoke::interop::keras {

/// A tensor of Keras within the graph under construction. Images are (C, H, W) in our graph and (H, W, C) in
/// Keras, unless the model is channels first; sequences (L, F) and vectors (F) are the same in both.
struct Value {
  std::size_t node = 0;
  /// The shape (C, H, W) of a vector that was an image with several channels and pixels. Our vector has the
  /// channels first, Keras' has them last. Empty for all other values.
  Shape flattened = {};
  std::optional<std::size_t> mask = {};  ///< node of the tokens that mask this sequence (Keras' mask_zero)
  /// Keras sees an image as (H, W, groups, C / groups), which no layer but a Permute and a Reshape reads.
  struct Grouped {
    std::int64_t groups = 1;
    bool swapped = false;  ///< as (H, W, C / groups, groups), with these axes permuted
  };
  std::optional<Grouped> grouped = {};
  /// The value is itself a mask, which Keras 3 computes (src/interop/keras/sequence_layers.cpp): for each
  /// time step, whether its token is not 0, or the same for all of them. Several, until Any or All joins
  /// them.
  struct MaskParts {
    std::optional<std::size_t> tokens = {};  ///< node of the tokens
    bool ones = false, zeroes = false;
  };
  std::optional<MaskParts> mask_parts = {};
};

/// State that all layers of an import share.
struct Context {
  ModelBuilder& builder;
  const WeightSource& weights;
  bool channels_first = false;  ///< the model's images are (C, H, W)
  int keras_version = 3;        ///< 2 for Keras 1 and 2
  bool made_in_tfjs = false;    ///< see ModelSource
  /// For each layer with weights, by the names from the model to the layer and the suffix of its node, the
  /// node that owns them, with the order of its input: a second call shares them. A name may have dots.
  std::map<std::vector<std::string>, Value> owners = {};
  std::set<std::string> frozen = {};  ///< layers with trainable = false
};

/// One call of one layer: what its convert function works with.
class Call {
 public:
  struct Options {
    std::string class_name;
    std::vector<Place> path;                     ///< from the model to the layer
    std::vector<std::string_view> parts = {""};  ///< see WeightSource
    bool trainable = true;
    bool inference = false;  ///< called with training=False: batch norms are frozen, dropout is off
    bool is_operation = false;
  };
  Call(Context& context, const Json& config, Options options, std::vector<Value> inputs,
       std::vector<Argument> arguments);

  Context& context() const { return context_; }
  ModelBuilder& builder() const { return context_.builder; }
  const Config& config() const { return config_; }
  const Options& options() const { return options_; }
  /// Positional and keyword arguments; `call` of tensors counts within inputs().
  const std::vector<Argument>& arguments() const { return arguments_; }
  /// The name of the layer in the graph: "backbone.conv1".
  const std::string& name() const { return name_; }

  const std::vector<Value>& inputs() const { return inputs_; }
  /// The only input, as it is, and with the elements of a vector in Keras' order. Throw Error if there are
  /// several.
  Value input() const;
  Value plain_input() const { return plain(input()); }
  const Shape& shape(const Value& value) const { return builder().graph().node(value.node).shape; }
  /// Returns the shape in Keras' order of axes.
  Shape keras_shape(const Value& value) const;
  /// Returns the value with the elements of a vector in Keras' order.
  Value plain(const Value& value) const;

  /// Adds a node without weights that reads `inputs`; `suffix` distinguishes several nodes of one layer. The
  /// result has the mask and the order of the first input.
  Value add(const Settings& layer, const std::vector<Value>& inputs, std::string_view suffix = {}) const;
  Value add(const Settings& layer, const Value& input, std::string_view suffix = {}) const {
    return add(layer, std::vector<Value>{input}, suffix);
  }
  /// Adds the node with this layer's weights, or shares it if the layer was called before.
  Value add_weighted(const Settings& layer, const std::vector<Value>& inputs, std::string_view suffix = {},
                     std::optional<std::vector<Tensor>> tensors = {}) const;
  std::vector<Tensor> tensors() const { return context_.weights(options_.path, options_.parts); }

  /// Gives `value` another shape, in Keras' order of axes and of elements.
  Value reshaped(const Value& value, const Shape& keras_shape, std::string_view suffix = {}) const;
  /// Returns the name of our axis for one of Keras' axes of `value`, which count the batch as 0: "channels".
  std::string axis(const Value& value, std::int64_t keras_axis) const;
  /// Applies the activation in the config (a name or an object) under `key`.
  Value activated(const Value& value, std::string_view key = "activation") const;
  void note(const std::string& sentence) const { builder().note(sentence); }

 private:
  Context& context_;
  Config config_;
  Options options_;
  std::vector<Value> inputs_;
  std::vector<Argument> arguments_;
  std::string name_;
};

/// Converts one call of a layer. Throws Error that names neither file nor layer.
using Convert = Value (*)(const Call& call);

/// A class of layers that can be converted.
struct LayerClass {
  std::string_view name;
  Convert convert;
  std::string_view layer = {};  ///< ours, if it is one
};
/// Returns the function of a class. Throws Error with what would replace it for an unknown one.
Convert find_layer(const std::string& class_name);
bool is_layer_class(const std::string& name);
/// Returns our layer for a class; empty if it is not one of ours alone.
std::string_view layer_of(std::string_view class_name);
/// Returns our layer of which Keras numbers the layers as `kind` ("batch_normalization"); empty: none.
std::string_view layer_of_kind(std::string_view kind);
/// Returns the names of all classes that can be read, for the documentation.
std::vector<std::string> layer_classes();

/// Applies an activation: its name, or the JSON of an object.
Value activate(const Call& call, const Value& value, const Json& activation);
/// Brings the inputs of an element-wise layer to one shape: axes of extent 1 are repeated.
std::vector<Value> broadcast(const Call& call, std::vector<Value> inputs);

// Families of classes of layers, each with a file, and the functions that they share.

extern const std::initializer_list<LayerClass> kActivationClasses;
extern const std::initializer_list<LayerClass> kMergingClasses;
extern const std::initializer_list<LayerClass> kNormalizationClasses;
extern const std::initializer_list<LayerClass> kRecurrentClasses;
extern const std::initializer_list<LayerClass> kStructureClasses;
extern const std::initializer_list<LayerClass> kWindowClasses;

/// Returns the settings of our layer that a config of Keras gives. Keys that are absent have the defaults.
Settings settings_from(const Config& config, std::string_view layer);
/// The same for a class that is one of our layers (layer_of).
Settings settings_from(const Call& call);
/// Refuses a layer whose axis or axes are not that of the channels or features. An absent one is Keras'
/// default, the last.
void require_channel_axis(const Call& call, const Value& x);
/// Returns the value without its mask, which ends here.
Value unmasked(Value x);
/// Refuses a layer whose input is no image (3 axes) or no sequence (2).
void require_rank(const Call& call, const Value& x, std::size_t rank);
/// Returns the argument `axis` of a function, or the setting of a layer.
std::int64_t axis_argument(const Call& call, std::int64_t fallback);
/// Returns a function of our elementwise layer.
Value elementwise(const Call& call, std::string_view function, convoke::Value::Array operands,
                  const std::vector<Value>& inputs, std::string_view suffix = {});
/// Returns scale x + offset.
Value rescaled(const Call& call, const Value& x, double scale, double offset, std::string_view suffix);

/// A layer of the table of plain layers (interop/layer_tables.hpp), by its class.
Value convert_plain(const Call& call);
Value convert_softmax(const Call& call);

/// For random changes of training pictures: they are left out, with a note.
Value convert_augmentation(const Call& call);

Value convert_concatenate(const Call& call);

/// x[index], as Keras 3 (GetItem) and Keras 2 (SlicingOpLambda) write it.
Value convert_get_item(const Call& call);
Value convert_stack(const Call& call);

/// True if `name` is that of a function of keras.ops and no layer's, or if one of the arguments is a number,
/// which layers do not take: .h5 files do not say that x + 3 is no Add layer.
bool is_operation(const std::string& name, const std::vector<Argument>& arguments);

/// Converts the call of a function of keras.ops on tensors and numbers. Throws Error for an unknown one.
Value convert_operation(const Call& call);

/// Converts an operator of Keras 2 on tensors: x + 3 is TensorFlow's function __operators__.add.
Value convert_tensorflow(const Call& call);

// Keras 3 writes the computation of masks as operations between the layers of a Functional model:
// mask = NotEqual(tokens, 0). They become facts about values; layers that mask read the tokens themselves.

/// True for a call that computes a mask.
bool computes_mask(const Call& call);
/// Returns the mask. Throws Error for one that is not that of tokens other than 0.
Value fold_mask(const Call& call);
/// Returns `x` with a mask that fold_mask() returned. Throws Error for another value.
Value with_mask(Value x, const Value& mask);
/// Returns the mask of a masked sequence (L, F) as numbers (L): 1 for a token other than 0, and 0 for a
/// masked one.
Value mask_numbers(const Call& call, const Value& x);
/// Returns a sequence (L, F) with each time step multiplied by its number of `mask` (L).
Value kept_steps(const Call& call, const Value& x, const Value& mask, std::string_view suffix);

}  // namespace convoke::interop::keras
