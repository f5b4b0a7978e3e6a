#include "convoke/nn/layers/regularization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "nn/kernels/dropout.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/noise.hpp"
#include "nn/kernels/per_channel.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {
namespace {

/// The unit that is dropped as a whole.
enum class Drop { kChannels, kSamples };

/// Fills factors (N, padded channels).
void draw_factors(const ChannelBlocks& blocks, double rate, Drop what, const StepKey& key,
                  std::uint32_t stream, float* factors) {
  const PhiloxKey philox = philox_key(key.seed, Purpose::kDropout, key.epoch);
  const double threshold = rate * 0x1p32;
  const auto kept = static_cast<float>(1 / (1 - rate));
  const std::uint32_t* const repeats = key.repeats_from(0);
  for (std::int64_t n = 0; n < blocks.samples; ++n) {
    const std::uint32_t sample = key.samples[static_cast<std::size_t>(n)];
    const std::uint32_t repeat = repeats == nullptr ? 0 : repeats[n];
    float* const row = factors + n * blocks.padded_channels();
    for (std::int64_t channel = 0; channel < blocks.channels; ++channel) {
      const auto c = static_cast<std::uint32_t>(what == Drop::kSamples ? 0 : channel);
      const PhiloxCounter words = philox4x32({c / 64 * 16 + c % 16, stream, sample, repeat}, philox);
      row[channel] = words[c / 16 % 4] >= threshold ? kept : 0;
    }
    std::fill(row + blocks.channels, row + blocks.padded_channels(), 0.0F);
  }
}

/// Compiles a node that in training zeroes whole channels, or samples, with probability `rate` and scales the
/// others by 1 / (1 - rate). Channel c of a sample uses word c / 16 % 4 of the Philox counter (c / 64 * 16 +
/// c % 16, node, sample, repeat), as an element of dropout does; a sample uses the word of channel 0.
void compile_drop_channels(PlanBuilder& plan, const Node& node, double rate, Drop what) {
  const std::size_t from = node.inputs[0];
  if (!plan.training(node) || rate == 0) return plan.set_alias(node.index, from);
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const auto stream = static_cast<std::uint32_t>(node.index);
  const Ref factors = plan.allocate_numbers(blocks.samples * blocks.padded_channels());
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        draw_factors(blocks, rate, what, frame.key, stream, frame.at(factors));
        kernels<PerChannelKernels<T>>().scale_shift(blocks, {frame.at(factors), nullptr, true},
                                                    frame.at<T>(x), frame.at<T>(y));
      },
      {x.ref, y.ref, factors}, y);
  plan.set_value(node.index, y);
  plan.on_backward_in_place(node, {factors}, [=]<class T>(const Frame& frame, const T* dy, T* dx) {
    kernels<PerChannelKernels<T>>().scale_shift(blocks, {frame.at(factors), nullptr, true}, dy, dx);
  });
}

}  // namespace

Shape Dropout::output_shape(std::span<const ValueSpec> inputs) const {
  if (options_.spatial && inputs[0].rank() == 1) {
    throw Error(fmt::format("with spatial = true needs (N, C, H, W) or (N, L, F), but its input is {}",
                            inputs[0].with_batch()),
                "remove spatial, or move the layer before the flatten layer");
  }
  return inputs[0];
}

Dropout::Keys Dropout::keys() {
  static constexpr std::array kKeys{
      key<&DropoutOptions::rate>({.name = "rate",
                                  .range = kProbability,
                                  .required = true,
                                  .help = "probability that an element is zeroed"}),
      key<&DropoutOptions::spatial>({.name = "spatial",
                                     .omit_default = true,
                                     .help = "drop whole channels, or features of a sequence"})};
  return kKeys;
}

void Dropout::compile(PlanBuilder& plan, const Node& node) const {
  if (options_.spatial) return compile_drop_channels(plan, node, options_.rate, Drop::kChannels);
  const std::size_t from = node.inputs[0];
  if (!plan.training(node) || options_.rate == 0) return plan.set_alias(node.index, from);
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const std::size_t count = elements_of(x.desc);
  const Ref keep = plan.allocate_bytes(count);
  const auto stream = static_cast<std::uint32_t>(node.index);
  const double rate = options_.rate;
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        const std::int64_t size = blocks.sample_size();
        share(blocks.samples, size, [&](std::int64_t begin, std::int64_t end, int) {
          ChannelBlocks part = blocks;
          part.samples = end - begin;
          kernels<DropoutKernels<T>>().forward(part, frame.at<T>(x) + begin * size, rate,
                                               philox_key(frame.key.seed, Purpose::kDropout, frame.key.epoch),
                                               stream, frame.key.samples.data() + begin,
                                               frame.key.repeats_from(begin), frame.at<T>(y) + begin * size,
                                               frame.at<std::uint8_t>(keep, begin * size));
        });
      },
      {x.ref, y.ref, keep}, y);
  plan.set_value(node.index, y);
  plan.on_backward_in_place(node, {keep}, [=]<class T>(const Frame& frame, const T* dy, T* dx) {
    share_elements(count, [&](std::int64_t i, std::size_t n) {
      kernels<DropoutKernels<T>>().backward(dy + i, frame.at<std::uint8_t>(keep, i), rate, dx + i, n);
    });
  });
}

StochasticDepth::Keys StochasticDepth::keys() {
  static constexpr std::array kKeys{
      key<&StochasticDepthOptions::rate>({.name = "rate",
                                          .range = kProbability,
                                          .required = true,
                                          .help = "probability that the branch is dropped for a sample"})};
  return kKeys;
}

void StochasticDepth::compile(PlanBuilder& plan, const Node& node) const {
  compile_drop_channels(plan, node, options_.rate, Drop::kSamples);
}

GaussianNoise::Keys GaussianNoise::keys() {
  static constexpr std::array kKeys{
      key<&GaussianNoiseOptions::stddev>({.name = "stddev",
                                          .range = kNotNegative,
                                          .required = true,
                                          .help = "standard deviation of the noise"})};
  return kKeys;
}

void GaussianNoise::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  if (!plan.training(node) || options_.stddev == 0) return plan.set_alias(node.index, from);
  ChannelBlocks blocks;
  // A flattened image keeps its layout, so that the next layer finds the same layout as in inference.
  const Tensor x = plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const auto stream = static_cast<std::uint32_t>(node.index);
  const double stddev = options_.stddev;
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        add_noise(blocks, frame.at<T>(x), stddev,
                  philox_key(frame.key.seed, Purpose::kDropout, frame.key.epoch), stream,
                  frame.key.samples.data(), frame.key.repeats_from(0), frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {  // dx = dy
    plan.add_gradient(from, dy, node);
  });
}

}  // namespace convoke::nn
