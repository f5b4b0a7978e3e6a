#pragma once
#include "reference/layer.hpp"

namespace reference {

Values average(const Call& call);
Values channel_shuffle(const Call& call);
Values concat(const Call& call);
Values identity(const Call& call);
Values maximum(const Call& call);
Values multiply(const Call& call);
Values permute(const Call& call);
Values slice(const Call& call);
Values subtract(const Call& call);
void add(const Call& call, const AddProduct& add);
void flatten(const Call& call, const AddProduct& add);

}  // namespace reference
