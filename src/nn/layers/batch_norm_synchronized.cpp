#include <algorithm>

#include "nn/kernels/batch_norm.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/batch_norm_plan.hpp"

namespace convoke::nn {
namespace {

// Two sums for each channel, one after the other. Padded channels are left out, because plans of other
// micro-batch sizes may pad differently.
Ref allocate_moments(PlanBuilder& plan, std::size_t channels) {
  return plan.allocate_bytes(2 * channels * sizeof(double));
}

// mean = E x,  var = E x^2 - mean^2, in double precision, because fp32 loses digits where the mean is large.
// Padded channels get 0.
void statistics_from(const double* moments, std::size_t channels, std::size_t padded,
                     const BatchNormMemory& memory) {
  std::fill_n(memory.mean, padded, 0.0F);
  std::fill_n(memory.variance, padded, 0.0F);
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = moments[c], variance = moments[channels + c] - mean * mean;
    memory.mean[c] = static_cast<float>(mean);
    memory.variance[c] = static_cast<float>(variance < 0 ? 0 : variance);  // NaN stays
  }
}

// Writes `channels` doubles as padded floats, as the gradient arena holds them.
void to_padded(const double* values, std::size_t channels, std::size_t padded, float* result) {
  for (std::size_t c = 0; c < padded; ++c) result[c] = c < channels ? static_cast<float>(values[c]) : 0.0F;
}

template <class T>
void add_synchronized_forward(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm,
                              const BatchNormKept& kept, const std::vector<Ref>& uses) {
  const auto channels = static_cast<std::size_t>(norm.shape.in.channels);
  const auto padded = static_cast<std::size_t>(norm.shape.in.padded_channels());
  const Ref moments = allocate_moments(plan, channels);
  plan.add_kernel(
      node, "forward moments",
      [=](const Frame& frame) {
        double* const sums = frame.at<double>(moments);
        share_channels(norm.shape, [&](const BatchNormShape& part) {
          kernels<BatchNormKernels<T>>().moments(part, frame.at<T>(norm.x), sums, sums + channels);
        });
        const double share = static_cast<double>(norm.shape.in.samples) / static_cast<double>(frame.group);
        for (std::size_t i = 0; i < 2 * channels; ++i) sums[i] *= share;
      },
      {norm.x.ref, moments}, {});
  plan.exchange(moments, 2 * channels);

  std::vector<Ref> all = uses;
  all.insert(all.end(), {moments, norm.y.ref});
  plan.add_kernel(
      node, norm.what,
      [=](const Frame& frame) {
        BatchNormShape given = norm.shape;
        given.frozen = true;
        statistics_from(frame.at<double>(moments), channels, padded, kept.at(frame));
        normalize<T>(norm, given, kept, frame);
      },
      std::move(all), norm.y);
  offer_recomputation(plan, node, norm, kept, uses);
}

template <class T>
void add_synchronized_backward(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm,
                               const BatchNormKept& kept, std::vector<Ref> uses) {
  const auto channels = static_cast<std::size_t>(norm.shape.in.channels);
  const auto padded = static_cast<std::size_t>(norm.shape.in.padded_channels());
  const Ref mean = plan.gradient_of(node, "running_mean").ref;
  const Ref variance = plan.gradient_of(node, "running_variance").ref;
  // All plans have the same statistics. Each plan writes its share of the batch.
  const auto write_statistics = [=](const Frame& frame) {
    const BatchNormMemory memory = kept.at(frame);
    const float share =
        static_cast<float>(norm.shape.in.samples) / static_cast<float>(frame.batch) / norm.uses;
    for (std::size_t c = 0; c < padded; ++c) {
      frame.at(mean)[c] = memory.mean[c] * share;
      frame.at(variance)[c] = memory.variance[c] * share;
    }
  };
  std::vector<std::size_t> completes{plan.slot(node, "running_mean"), plan.slot(node, "running_variance")};
  const Tensor dy = plan.gradient_like_value(norm.output, node);
  if (!dy)  // no parameter of this or an earlier node is trained
    return plan.add_kernel(node, "statistics", write_statistics, uses, {}, 0, completes);

  const Tensor gated = norm.shape.gates() ? plan.in_place_of(dy) : dy;
  const Ref moments = allocate_moments(plan, channels);
  const Ref dgamma = norm.gamma.gradient(plan, node, uses, completes);
  const Ref dbeta = norm.beta.gradient(plan, node, uses, completes);
  uses.insert(uses.end(), {dy.ref, gated.ref, moments});
  plan.add_kernel(
      node, "backward moments",
      [=](const Frame& frame) {
        double* const sums = frame.at<double>(moments);
        share_channels(norm.shape, [&](const BatchNormShape& part) {
          kernels<BatchNormKernels<T>>().reduce(part, frame.at<T>(norm.x), frame.at<T>(dy),
                                                norm.gamma.at(frame), norm.beta.at(frame), kept.at(frame),
                                                frame.at<T>(gated), sums, sums + channels);
        });
        to_padded(sums, channels, padded, frame.at(dgamma));
        to_padded(sums + channels, channels, padded, frame.at(dbeta));
        write_statistics(frame);
      },
      uses, {}, 0, completes);
  if (!plan.needs_gradient(norm.from)) return;
  plan.exchange(moments, 2 * channels);

  const Tensor dx = !norm.shape.pooled() && dy.exclusive ? dy : plan.allocate(norm.x.desc);
  uses.push_back(dx.ref);
  plan.add_kernel(
      node, "backward data",
      [=](const Frame& frame) {
        double* const sums = frame.at<double>(moments);
        const double count = static_cast<double>(frame.group) * static_cast<double>(norm.shape.in.pixels());
        for (std::size_t i = 0; i < 2 * channels; ++i) sums[i] /= count;
        share_channels(norm.shape, [&](const BatchNormShape& part) {
          kernels<BatchNormKernels<T>>().spread_back(part, frame.at<T>(norm.x), frame.at<T>(gated),
                                                     norm.gamma.at(frame), norm.beta.at(frame),
                                                     kept.at(frame), sums, sums + channels, frame.at<T>(dx));
        });
      },
      uses, dx);
  plan.add_gradient(norm.from, dx, node);
}

}  // namespace

void compile_synchronized(PlanBuilder& plan, const Node& node, BatchNormPlan norm) {
  norm.shape.micro_batch = norm.shape.in.samples;  // all micro-batches of a plan are one group
  std::vector<Ref> uses{norm.x.ref};
  const BatchNormKept kept(plan, norm.shape, 1, norm.y.desc, uses);
  with_stored_type(norm.x.desc, [&](auto zero) {
    using T = decltype(zero);
    add_synchronized_forward<T>(plan, node, norm, kept, uses);
    plan.on_backward([=, &plan, &node] { add_synchronized_backward<T>(plan, node, norm, kept, uses); });
  });
}

}  // namespace convoke::nn
