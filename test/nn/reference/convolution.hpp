#pragma once
#include "reference/layer.hpp"

namespace reference {

Values conv1d(const Call& call);
Values conv2d_transpose(const Call& call);
Values depthwise_conv2d(const Call& call);
Values separable_conv2d(const Call& call);

}  // namespace reference
