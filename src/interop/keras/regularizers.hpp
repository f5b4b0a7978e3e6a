#pragma once
#include <vector>

#include "interop/keras/call.hpp"
#include "interop/keras/functional_model.hpp"

// The penalties l1 sum |w| + l2 sum w^2 of a layer's weights: "kernel_regularizer" and others.

namespace convoke::interop::keras {

/// Gives `node` the penalties of a layer's settings. Leaves out, with a note, penalties of biases and
/// outputs, and penalties that are not equal for all weights of the layer.
void penalize(const Call& call, const Config& config, std::size_t node);

}  // namespace convoke::interop::keras

namespace convoke::interop::keras_export {

/// Adds the penalties to the settings of a layer with these weights.
void add_regularizers(const std::vector<KerasWeight>& weights, const nn::ParameterOptions& options,
                      Json& config);

}  // namespace convoke::interop::keras_export
