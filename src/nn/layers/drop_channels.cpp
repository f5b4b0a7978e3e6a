#include "nn/layers/drop_channels.hpp"

#include <algorithm>

#include "convoke/core/random.hpp"
#include "nn/kernels/scale_shift.hpp"
#include "nn/layers/in_place.hpp"

namespace convoke::nn {
namespace {

/// factors: (N, padded channels).
void draw_factors(const ChannelBlocks& blocks, double rate, Drop what, const StepKey& key,
                  std::uint32_t stream, float* factors) {
  const PhiloxKey philox = philox_key(key.seed, Purpose::kDropout, key.epoch);
  const double threshold = rate * 0x1p32;
  const auto kept = static_cast<float>(1 / (1 - rate));
  for (std::int64_t n = 0; n < blocks.samples; ++n) {
    float* const row = factors + n * blocks.padded_channels();
    for (std::int64_t channel = 0; channel < blocks.channels; ++channel) {
      const auto c = static_cast<std::uint32_t>(what == Drop::kSamples ? 0 : channel);
      const PhiloxCounter words =
          philox4x32({c / 64 * 16 + c % 16, stream, key.samples[static_cast<std::size_t>(n)], 0}, philox);
      row[channel] = words[c / 16 % 4] >= threshold ? kept : 0;
    }
    std::fill(row + blocks.channels, row + blocks.padded_channels(), 0.0F);
  }
}

}  // namespace

void compile_drop_channels(PlanBuilder& plan, const Node& node, double rate, Drop what) {
  const std::size_t from = node.inputs[0];
  if (!plan.training(node) || rate == 0) return plan.set_alias(node.index, from);
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const auto stream = static_cast<std::uint32_t>(node.index);
  const Ref factors = plan.allocate_bytes(
      static_cast<std::size_t>(blocks.samples * blocks.padded_channels()) * sizeof(float));
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=](const Frame& frame) {
          draw_factors(blocks, rate, what, frame.key, stream, frame.at(factors));
          scale_shift(blocks, {frame.at(factors), nullptr, true}, frame.at<T>(x), frame.at<T>(y));
        },
        {x.ref, y.ref, factors}, y);
  });
  plan.set_value(node.index, y);
  on_backward_in_place(plan, node, {factors}, [=](const Frame& frame, const auto* dy, auto* dx) {
    scale_shift(blocks, {frame.at(factors), nullptr, true}, dy, dx);
  });
}

}  // namespace convoke::nn
