#pragma once
#include <string>

#include "nn/kernels/winograd/winograd.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// A convolution that kernels/winograd computes, as steps of a plan.
struct WinogradConvolution {
  WinogradShape shape;
  std::string weight, bias;  ///< names of the parameters; `bias` empty: none
  bool relu = false;         ///< apply max(y, 0) while y is written
  double flops = 0;          ///< of one pass, as the direct convolution counts
};

/// Return the layouts of images (N, C, H, W), stored as `type`, and of weights (K, C, 3, 3). The kernels must
/// exist.
Desc winograd_image(const Dims& dims, Type type);
Desc winograd_weight(const Dims& dims);

void add_winograd_forward(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                          const Tensor& x, const Tensor& y);
/// Adds d loss / d weight and bias. `gate`: empty, or the output of the ReLU whose gradient is `dy`. If
/// `joined`, the same pass over dy also computes d loss / d x, which is returned; the shape must allow it
/// (joins_gradients()).
Tensor add_winograd_gradients(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                              const Tensor& x, const Tensor& dy, const Tensor& gate, bool joined);

/// Adds d loss / d x in new memory with the layout `x`. Returns it.
Tensor add_winograd_data_gradient(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                                  const Desc& x, const Tensor& dy, const Tensor& gate);

}  // namespace convoke::nn
