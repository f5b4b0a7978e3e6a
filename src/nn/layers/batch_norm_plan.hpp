#pragma once
#include <string>

#include "nn/kernels/batch_norm.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/coefficients.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {

/// The buffers that forward leaves for backward.
struct BatchNormKept {
  Ref mean, scale, variance, winners, x_hat;  ///< the last two: with pooling only

  /// Allocates the buffers for `micro_batches` micro-batches of shape.in's padded channels and an output
  /// `dst`, and adds them to `uses`.
  BatchNormKept(PlanBuilder& plan, const BatchNormShape& shape, std::int64_t micro_batches, const Desc& dst,
                std::vector<Ref>& uses);
  BatchNormMemory at(const Frame& frame) const {
    return {frame.at(mean), frame.at(scale), frame.at(variance), frame.integers(winners), frame.at(x_hat)};
  }
};

/// A batch norm in a plan, with the layers fused into it.
struct BatchNormPlan {
  BatchNormShape shape;
  std::size_t from, output;  ///< nodes whose values are x and y
  Tensor x, y;
  Coefficients gamma, beta;
  Ref running_mean, running_variance;
  float epsilon;
  /// Nodes that share its parameters: the running statistics follow the mean over them.
  float uses;
  std::string what;  ///< "forward, relu, max_pool"
};

/// Shares the blocks of channels of a batch norm among the threads: work(shape of a part). The bits do not
/// depend on the number of threads, because a channel belongs to one of them.
template <class Work>
void share_channels(const BatchNormShape& shape, const Work& work) {
  const ChannelBlocks& in = shape.in;
  share(in.outer, in.samples * in.pixels() * in.block, [&](std::int64_t begin, std::int64_t end, int) {
    BatchNormShape part = shape;
    part.first_block = begin;
    part.end_block = end;
    work(part);
  });
}

/// Computes y from x, the statistics of `shape` and the parameters.
template <class T>
void normalize(const BatchNormPlan& norm, const BatchNormShape& shape, const BatchNormKept& kept,
               const Frame& frame) {
  share_channels(shape, [&](const BatchNormShape& part) {
    kernels<BatchNormKernels<T>>().forward(part, frame.at<T>(norm.x), norm.gamma.at(frame),
                                           norm.beta.at(frame), norm.epsilon, kept.at(frame),
                                           frame.at<T>(norm.y));
  });
}

/// Offers to compute y again from x with the statistics that forward has kept. `uses`: x and these
/// statistics.
void offer_recomputation(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm,
                         const BatchNormKept& kept, std::vector<Ref> uses);

/// Adds training steps that use the mean and variance of the whole batch, over all plans of the step. Forward
/// and backward each stop where plans exchange the moments (PlanBuilder::exchange).
///
/// forward:  mean = E x, E x^2 | y = pool(relu(gamma (x - mean) / sqrt(var + eps) + beta))
/// backward: d gamma = sum g x_hat, d beta = sum g | dx = gamma scale (g - d beta / M - x_hat d gamma / M)
void compile_synchronized(PlanBuilder& plan, const Node& node, BatchNormPlan norm);

}  // namespace convoke::nn
