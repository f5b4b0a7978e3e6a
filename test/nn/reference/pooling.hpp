#pragma once
#include "reference/layer.hpp"

namespace reference {

Values adaptive_pool(const Call& call);
Values crop(const Call& call);
Values global_pool(const Call& call);
Values pool1d(const Call& call);
Values resize(const Call& call);
Values zero_pad(const Call& call);
void average_pool(const Call& call, const AddProduct& add);
void max_pool(const Call& call, const AddProduct& add);

}  // namespace reference
