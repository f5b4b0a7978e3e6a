#include "convoke/nn/layers/per_channel.hpp"

#include <array>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/per_channel.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// Compiles y = f(x, p) with a learned p for each channel, where y has the shape of x, from two kernels
/// (kernels/per_channel.hpp): forward(kernels, blocks, p, x, y) and backward(kernels, blocks, p, x, dy, dx,
/// dp).
template <class Forward, class Backward>
void compile_per_channel(PlanBuilder& plan, const Node& node, const std::string& parameter,
                         const Forward& forward, const Backward& backward) {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked_by_channel(from, node, blocks);
  const Tensor y = plan.allocate(x.desc);
  plan.prefer(node, parameter, Desc({blocks.channels}, kFloat, Format::x));
  const Ref p = plan.parameter(node, parameter).ref;
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        forward(kernels<PerChannelKernels<T>>(), blocks, frame.at(p), frame.at<T>(x), frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.in_place_of(dy);
    const Ref dp = plan.gradient_of(node, parameter).ref;
    plan.add_typed_kernel(dy.desc, node, "backward",
                          [=]<class T>(const Frame& frame) {
                            backward(kernels<PerChannelKernels<T>>(), blocks, frame.at(p), frame.at<T>(x),
                                     frame.at<T>(dy), frame.at<T>(dx), frame.at(dp));
                          },
                          {x.ref, dy.ref, dx.ref}, dx, 0, {plan.slot(node, parameter)});
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace

std::vector<ParameterSpec> PRelu::parameters(std::span<const ValueSpec> inputs) const {
  return {{.name = "alpha", .shape = {channels_of(inputs[0])}, .initializer = options_.initializer}};
}

PRelu::Keys PRelu::keys() {
  static constexpr std::array kKeys{key<&PReluOptions::initializer>(
      {.name = "initializer", .help = "initial slopes; PyTorch's are constant 0.25"})};
  return kKeys;
}

void PRelu::compile(PlanBuilder& plan, const Node& node) const {
  compile_per_channel(
      plan, node, "alpha", [](const auto& here, auto... given) { here.prelu(given...); },
      [](const auto& here, auto... given) { here.prelu_backward(given...); });
}

std::vector<ParameterSpec> ChannelScale::parameters(std::span<const ValueSpec> inputs) const {
  const Initializer initial(Settings{{"name", "constant"}, {"value", options_.initial}});
  return {{.name = "gamma", .shape = {channels_of(inputs[0])}, .initializer = initial}};
}

ChannelScale::Keys ChannelScale::keys() {
  static constexpr std::array kKeys{
      key<&ChannelScaleOptions::initial>({.name = "initial", .help = "initial value of each factor"})};
  return kKeys;
}

void ChannelScale::compile(PlanBuilder& plan, const Node& node) const {
  compile_per_channel(
      plan, node, "gamma",
      [](const auto& here, const ChannelBlocks& blocks, const float* gamma, auto* x, auto* y) {
        here.scale_shift(blocks, {.scale = gamma}, x, y);
      },
      [](const auto& here, auto... given) { here.channel_scale_backward(given...); });
}

}  // namespace convoke::nn
