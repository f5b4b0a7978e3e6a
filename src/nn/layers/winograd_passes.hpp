#pragma once
#include <string>

#include "nn/kernels/winograd/winograd.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// A convolution as kernels/winograd computes it, step by step of a plan.
struct WinogradConvolution {
  WinogradShape shape;
  std::string weight, bias;  ///< names of the parameters; `bias` empty: none
  bool relu = false;         ///< max(y, 0) as it is written
  double flops = 0;          ///< of one pass, as the direct convolution counts
};

/// The layouts of its images (N, C, H, W) and weights (K, C, 3, 3); kernels must exist.
Desc winograd_image(const Dims& dims);
Desc winograd_weight(const Dims& dims);

void add_winograd_forward(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                          const Tensor& x, const Tensor& y);
/// d loss / d weight and bias. `gate`: empty, or the output of the ReLU that `dy` is the gradient of.
void add_winograd_weight_gradient(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                                  const Tensor& x, const Tensor& dy, const Tensor& gate);
/// Both this and the next in one pass over dy, where its shape joins_gradients(): d loss / d x.
Tensor add_winograd_gradients(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                              const Tensor& x, const Tensor& dy, const Tensor& gate);
/// d loss / d x, into new memory of the layout `x`.
Tensor add_winograd_data_gradient(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                                  const Desc& x, const Tensor& dy, const Tensor& gate);

}  // namespace convoke::nn
