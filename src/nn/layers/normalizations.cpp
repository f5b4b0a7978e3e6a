#include "convoke/nn/layers/normalizations.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/local_response_norm.hpp"
#include "nn/kernels/sample_norms.hpp"
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

namespace {

using Over = LayerNormOptions::Over;
constexpr std::array kAxes{Named<Over>{"features", Over::kFeatures},
                           Named<Over>{"channels", Over::kChannels}};

}  // namespace

Shape LayerNorm::output_shape(std::span<const ValueSpec> inputs) const {
  const bool image = inputs[0].rank() == 3, channels = options_.axis == LayerNormOptions::Over::kChannels;
  if (image && !channels) {
    throw Error(fmt::format("normalizes the features of (N, L, F) or (N, F), but its input is {}",
                            inputs[0].with_batch()),
                "use axis = \"channels\" to normalize each pixel of an image, or group_norm with groups = 1 "
                "for the whole image");
  }
  if (!image && channels) {
    throw Error(
        fmt::format("with axis \"channels\" needs (N, C, H, W), but its input is {}", inputs[0].with_batch()),
        "remove axis: the layer then normalizes the last one");
  }
  return inputs[0];
}

std::vector<ParameterSpec> LayerNorm::parameters(std::span<const ValueSpec> inputs) const {
  return normalization_parameters(channels_of(inputs[0]), options_.scale, options_.center);
}

LayerNorm::Keys LayerNorm::keys() {
  using O = LayerNormOptions;
  static constexpr std::array kKeys{
      choice<kAxes, &O::axis>(
          {.name = "axis", .help = "\"channels\" normalizes each pixel of an image separately"}),
      kEpsilon<O>, kScale<O>, kCenter<O>};
  return kKeys;
}

void LayerNorm::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  Tensor x = plan.blocked_by_channel(from, node, blocks);
  if (blocks.block == 1 && blocks.channels > 1 && blocks.pixels() > 1) {
    // The channels lie far apart in memory: bring them together.
    x = plan.reordered(x, Desc(dims_of(x.desc), type_of(x.desc), Format::nhwc), node);
    x = plan.blocked(x, node, blocks);
  }
  const Tensor y = plan.allocate(x.desc);
  for (const ParameterSpec& spec : node.parameters)
    plan.prefer(node, spec.name, Desc({spec.shape[0]}, kFloat, Format::x));
  const std::int64_t padded = blocks.padded_channels();
  const Coefficients gamma(plan, node, "gamma", options_.scale, 1, padded);
  const Coefficients beta(plan, node, "beta", options_.center, 0, padded);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const std::int64_t rows = blocks.samples * blocks.pixels();
  const Ref mean = plan.allocate_numbers(rows), scale = plan.allocate_numbers(rows);
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        kernels<LayerNormKernels<T>>().forward(blocks, frame.at<T>(x), gamma.at(frame), beta.at(frame),
                                               epsilon, frame.at(mean), frame.at(scale), frame.at<T>(y));
      },
      {x.ref, y.ref, mean, scale}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.in_place_of(dy);
    const Ref partial = plan.allocate_numbers(2 * padded);
    std::vector<Ref> uses{x.ref, dy.ref, dx.ref, mean, scale, partial};
    std::vector<std::size_t> completes;
    const Ref dgamma = gamma.gradient(plan, node, uses, completes);
    const Ref dbeta = beta.gradient(plan, node, uses, completes);
    plan.add_typed_kernel(
        dy.desc, node, "backward",
        [=]<class T>(const Frame& frame) {
          kernels<LayerNormKernels<T>>().backward(blocks, frame.at<T>(x), frame.at<T>(dy), gamma.at(frame),
                                                  frame.at(mean), frame.at(scale), frame.at(partial),
                                                  frame.at<T>(dx), frame.at(dgamma), frame.at(dbeta));
        },
        uses, dx, 0, completes);
    plan.add_gradient(from, dx, node);
  });
}

Shape LocalResponseNorm::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].rank() != 3) {
    throw Error(fmt::format("needs an image (N, C, H, W), but its input is {}", inputs[0].with_batch()),
                "use layer_norm for sequences and vectors");
  }
  return inputs[0];
}

LocalResponseNorm::Keys LocalResponseNorm::keys() {
  using O = LocalResponseNormOptions;
  static constexpr std::array kKeys{
      key<&O::size>({.name = "size", .range = kAtLeastOne, .help = "neighboring channels in the sum"}),
      key<&O::alpha>({.name = "alpha",
                      .range = kNotNegative,
                      .help = "factor of the sum, divided by the size as in PyTorch"}),
      key<&O::beta>({.name = "beta", .help = "exponent"}),
      key<&O::k>({.name = "k", .range = kPositive, .help = "added to the sum"})};
  return kKeys;
}

// The layer is rare, so it has only an fp32 form.
void LocalResponseNorm::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value_as(from, kFloat, node), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const LocalResponse by{options_.size, static_cast<float>(options_.alpha), static_cast<float>(options_.beta),
                         static_cast<float>(options_.k)};
  const Ref scratch = plan.allocate_numbers(3 * blocks.channels);
  plan.add_kernel(
      node, "forward",
      [=](const Frame& frame) {
        local_response_norm_forward(blocks, by, frame.at(x), frame.at(scratch), frame.at(y));
      },
      {x.ref, y.ref, scratch}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.in_place_of(dy);
    const Ref room = plan.allocate_numbers(3 * blocks.channels);
    plan.add_kernel(
        node, "backward",
        [=](const Frame& frame) {
          local_response_norm_backward(blocks, by, frame.at(x), frame.at(dy), frame.at(room), frame.at(dx));
        },
        {x.ref, dy.ref, dx.ref, room}, dx);
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
