#pragma once
#include "reference/layer.hpp"

namespace reference {

Values layer_norm(const Call& call);
Values group_norm(const Call& call);
Values local_response_norm(const Call& call);
Values softmax(const Call& call);

}  // namespace reference
