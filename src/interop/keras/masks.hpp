#pragma once
#include "interop/keras/call.hpp"

// Keras 3 writes the computation of masks as operations between the layers of a Functional model:
// mask = NotEqual(tokens, 0). They become facts about values; layers that mask read the tokens themselves.

namespace convoke::interop::keras {

/// True for a call that computes a mask.
bool computes_mask(const Call& call);
/// Returns the mask. Throws Error for one that is not that of tokens other than 0.
Value fold_mask(const Call& call);
/// Returns `x` with a mask that fold_mask() returned. Throws Error for another value.
Value with_mask(Value x, const Value& mask);

}  // namespace convoke::interop::keras
