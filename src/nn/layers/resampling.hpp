#pragma once
#include "nn/kernels/resample.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Compiles a layer that is a linear map of rows and columns, forward and backward, in the stored type.
void compile_resampling(PlanBuilder& plan, const Node& node, const AxisTaps& rows, const AxisTaps& columns);

}  // namespace convoke::nn
