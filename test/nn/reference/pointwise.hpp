#pragma once
#include "reference/layer.hpp"

namespace reference {

// Element-wise layers.
Values elementwise(const Call& call);
Values elu(const Call& call);
Values gelu(const Call& call);
Values hard_sigmoid(const Call& call);
Values hard_swish(const Call& call);
Values leaky_relu(const Call& call);
Values channel_scale(const Call& call);
Values prelu(const Call& call);
Values relu6(const Call& call);
Values selu(const Call& call);
Values silu(const Call& call);
Values softplus(const Call& call);
Values rescale(const Call& call);
Values standardize(const Call& call);
Values gaussian_noise(const Call& call);
Values stochastic_depth(const Call& call);
Values sigmoid(const Call& call);
Values tanh(const Call& call);
void dropout(const Call& call, const AddProduct& add);
void relu(const Call& call, const AddProduct& add);

}  // namespace reference
