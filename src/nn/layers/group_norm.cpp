#include "convoke/nn/layers/group_norm.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/group_norm.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/coefficients.hpp"
#include "nn/layers/shared_keys.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

Shape GroupNorm::output_shape(std::span<const ValueSpec> inputs) const {
  const std::int64_t channels = channels_of(inputs[0]);
  if (options_.groups < 1 || channels % options_.groups != 0) {
    throw Error(fmt::format("{} groups do not divide the {} channels of its input {}", options_.groups,
                            channels, inputs[0].with_batch()),
                "choose groups that divide the channels");
  }
  return inputs[0];
}

std::vector<ParameterSpec> GroupNorm::parameters(std::span<const ValueSpec> inputs) const {
  return normalization_parameters(channels_of(inputs[0]), options_.scale, options_.center);
}

GroupNorm::Keys GroupNorm::keys() {
  using O = GroupNormOptions;
  static constexpr std::array kKeys{
      key<&O::groups>(
          {.name = "groups",
           .range = kAtLeastOne,
           .help =
               "number of groups; must divide the channels; equal to the channels: instance normalization"}),
      kEpsilon<O>, kScale<O>, kCenter<O>};
  return kKeys;
}

void GroupNorm::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  GroupNormShape shape;
  shape.groups = options_.groups;
  const Tensor x = plan.blocked_by_channel(from, node, shape.in);
  const Tensor y = plan.allocate(x.desc);
  for (const ParameterSpec& spec : node.parameters)
    plan.prefer(node, spec.name, Desc({spec.shape[0]}, kFloat, Format::x));
  const std::int64_t padded = shape.in.padded_channels();
  const Coefficients gamma(plan, node, "gamma", options_.scale, 1, padded);
  const Coefficients beta(plan, node, "beta", options_.center, 0, padded);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const std::int64_t all = padded * plan.samples();
  const Ref mean = plan.allocate_numbers(all), scale = plan.allocate_numbers(all);
  const Ref first = plan.allocate_numbers(padded), second = plan.allocate_numbers(padded);
  const auto memory = [=](const Frame& frame) {
    return GroupNormMemory{frame.at(mean), frame.at(scale), frame.at(first), frame.at(second)};
  };
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        kernels<GroupNormKernels<T>>().forward(shape, frame.at<T>(x), gamma.at(frame), beta.at(frame),
                                               epsilon, memory(frame), frame.at<T>(y));
      },
      {x.ref, y.ref, mean, scale, first, second}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.in_place_of(dy);
    std::vector<Ref> uses{x.ref, dy.ref, dx.ref, mean, scale, first, second};
    std::vector<std::size_t> completes;
    const Ref dgamma = gamma.gradient(plan, node, uses, completes);
    const Ref dbeta = beta.gradient(plan, node, uses, completes);
    plan.add_typed_kernel(
        dy.desc, node, "backward",
        [=]<class T>(const Frame& frame) {
          kernels<GroupNormKernels<T>>().backward(shape, frame.at<T>(x), frame.at<T>(dy), gamma.at(frame),
                                                  memory(frame), frame.at<T>(dx), frame.at(dgamma),
                                                  frame.at(dbeta));
        },
        uses, dx, 0, completes);
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
