#pragma once
#include "reference/layer.hpp"

namespace reference {

Values conv1d(const Call& call);
Values depthwise_conv2d(const Call& call);
Values separable_conv2d(const Call& call);
void conv2d(const Call& call, const AddProduct& add);
void conv2d_transpose(const Call& call, const AddProduct& add);
void dense(const Call& call, const AddProduct& add);

}  // namespace reference
