#include "convoke/nn/layers/gaussian_noise.hpp"

#include <array>

#include "nn/kernels/noise.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

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
