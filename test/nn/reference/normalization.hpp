#pragma once
#include "reference/layer.hpp"

namespace reference {

Values batch_norm(const Call& call);
void batch_norm_backward(const Call& call, Gradients& gradients);
Values layer_norm(const Call& call);
Values group_norm(const Call& call);
Values local_response_norm(const Call& call);
Values softmax(const Call& call);

}  // namespace reference
