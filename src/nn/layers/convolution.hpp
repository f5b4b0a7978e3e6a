#pragma once
#include <optional>
#include <string>

#include "convoke/nn/layers/convolutions.hpp"
#include "nn/kernels/winograd/winograd.hpp"
#include "nn/layers/weighted_primitive.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/weight_form.hpp"

namespace convoke::nn {

/// A convolution as a step of a plan, for layers that consist of one (conv1d, conv2d, depthwise_conv2d) or
/// two (separable_conv2d).
struct ConvolutionSpec {
  Shape in;                  ///< (C, H, W)
  Conv2dOptions options;     ///< the output is (filters, H', W')
  std::string weight, bias;  ///< names of the parameters; `bias` is used if options.bias
  FusibleActivation activation = FusibleActivation::kNone;  ///< applied while y is written
  Tensor addend = {};         ///< is added before the activation; y takes its memory; empty: nothing
  bool plain_source = false;  ///< x is the network's image input, which keeps its layout
};

class Convolution {
 public:
  /// Adds the forward step, from `x` in any layout.
  Convolution(PlanBuilder& plan, const Node& node, const Tensor& x, ConvolutionSpec spec);

  /// (N, filters, H', W')
  const Tensor& output() const { return y_; }

  /// Adds the backward steps for `dy` in the layout of output(): d loss / d weight and bias, and, if wanted,
  /// d loss / d x, which is returned.
  Tensor backward(Tensor dy, bool wants_data) const;

 private:
  /// Common to all three passes.
  struct Geometry {
    Dims stride, dilation, before, after;
    std::int64_t height = 0, width = 0;  ///< of the output
    double flops = 0;                    ///< of one pass over the plan's batch
    Type type = kFloat;                  ///< type of values; gradients of weights are fp32
  };
  Geometry measure() const;
  std::optional<WinogradShape> fit_winograd() const;
  bool by_winograd(Pass pass) const;
  void forward_winograd(const Tensor& x);
  void forward_direct(const Tensor& x);
  bool finishes_separately() const;
  void finish_forward();
  void backward_weights(const Tensor& dy) const;
  Tensor backward_data(const Tensor& dy) const;
  Tensor backward_data_flipped(const Tensor& dy) const;
  /// Adds our own pass for d loss / d weight and bias of a depthwise convolution, from x and dy in blocks of
  /// channels. Returns false, and adds nothing, if our kernels do not support this convolution.
  bool add_depthwise_gradient(const Tensor& dy) const;
  void add_winograd_forward() const;
  /// Adds d loss / d weight and bias. `gate`: empty, or the output of the ReLU whose gradient is `dy`. If
  /// `joined`, the same pass over dy also computes d loss / d x, which is returned; the shape must allow it
  /// (joins_gradients()).
  Tensor add_winograd_gradients(const Tensor& dy, const Tensor& gate, bool joined) const;
  /// Adds d loss / d x in new memory with the layout of x. Returns it.
  Tensor add_winograd_data_gradient(const Tensor& dy, const Tensor& gate) const;
  /// Returns the memory from which those kernels read the weights: the parameter, or its form `kind`.
  Tensor winograd_weights(WeightForm::Kind kind) const;
  Desc hint_weight() const;
  Desc plain(const Tensor& tensor) const;
  Dims weight_dims() const;
  dnnl::convolution_forward::primitive_desc hint(const Desc& weight, const Desc& x, const Desc& y) const;
  dnnl::convolution_backward_weights::primitive_desc weights_pass(const Desc& weight, const Desc& diff_weight,
                                                                  const Desc& x, const Desc& y) const;
  dnnl::convolution_backward_data::primitive_desc data_pass(const Desc& weight, const Desc& x,
                                                            const Desc& y) const;

  PlanBuilder* plan_;
  const Node* node_;
  ConvolutionSpec spec_;
  Geometry geometry_;
  WeightedPrimitive weighted_;
  std::optional<WinogradShape> winograd_;  ///< if kernels/winograd supports it
  Tensor x_, y_;
  Desc forward_weight_;  ///< layout in which the forward pass reads the weights
};

/// Throws Error unless `groups` divides both the input channels and the filters.
void require_groups(std::int64_t groups, std::int64_t channels, std::int64_t filters);

/// Returns the other input of the sum that is fused into `node`; empty: no sum is.
Tensor addend_of(PlanBuilder& plan, const Node& node);

/// Compiles a layer that is one convolution with the parameters "weight" and "bias", and the layers fused
/// into it (fusion.hpp), forward and backward. Sequences are images of one row.
void compile_convolution(PlanBuilder& plan, const Node& node, const Conv2dOptions& options);

/// Compiles `node`, a convolution of the network's input that includes its pooling (fusion.hpp), with
/// kernels/max_pool.hpp.
void compile_conv2d_max_pool(PlanBuilder& plan, const Node& node, const Conv2dOptions& options);

/// Return the layouts of images (N, C, H, W), stored as `type`, and of weights (K, C, 3, 3) for
/// kernels/winograd, which must exist.
Desc winograd_image(const Dims& dims, Type type);
Desc winograd_weight(const Dims& dims);

}  // namespace convoke::nn
