#pragma once
#include "nn/plan/arena.hpp"

namespace convoke::nn {

class PlanBuilder;

/// Where the buffers of a compiled plan go in its arena, by the steps that use them.
ArenaPlan place_buffers(const PlanBuilder& builder);

}  // namespace convoke::nn
