#pragma once
#include <initializer_list>

#include "interop/keras/call.hpp"

// Families of classes of layers, each with a file, and the functions that they share.

namespace convoke::interop::keras {

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
