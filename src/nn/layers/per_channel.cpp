#include "convoke/nn/layers/per_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
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

namespace {

/// Compiles y = a x + b with a pair (a, b) for each channel, or one pair for all.
void compile_affine(PlanBuilder& plan, const Node& node, const std::vector<double>& a,
                    const std::vector<double>& b) {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = a.size() > 1 ? plan.blocked_by_channel(from, node, blocks)
                                : plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  std::vector<float> scale(static_cast<std::size_t>(blocks.padded_channels())), shift(scale);
  for (std::size_t c = 0; c < static_cast<std::size_t>(blocks.channels); ++c) {
    scale[c] = static_cast<float>(a[std::min(c, a.size() - 1)]);
    shift[c] = static_cast<float>(b[std::min(c, b.size() - 1)]);
  }
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        kernels<PerChannelKernels<T>>().scale_shift(blocks, {scale.data(), shift.data()}, frame.at<T>(x),
                                                    frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);
  plan.on_backward_in_place(node, {}, [=]<class T>(const Frame&, const T* dy, T* dx) {
    kernels<PerChannelKernels<T>>().scale_shift(blocks, {scale.data()}, dy, dx);
  });
}

}  // namespace

Rescale::Keys Rescale::keys() {
  static constexpr std::array kKeys{
      key<&RescaleOptions::scale>({.name = "scale", .required = true, .help = "factor"}),
      key<&RescaleOptions::offset>({.name = "offset", .help = "added after the multiplication"})};
  return kKeys;
}

void Rescale::compile(PlanBuilder& plan, const Node& node) const {
  compile_affine(plan, node, {options_.scale}, {options_.offset});
}

Shape Standardize::output_shape(std::span<const ValueSpec> inputs) const {
  const std::size_t given = options_.mean.size();
  if (given != 1 && static_cast<std::int64_t>(given) != channels_of(inputs[0])) {
    throw Error(fmt::format("has {} means, but its input {} has {} channels", given, inputs[0].with_batch(),
                            channels_of(inputs[0])),
                "give a mean and a variance for each channel, or one for all");
  }
  return inputs[0];
}

Standardize::Keys Standardize::keys() {
  static constexpr std::array kKeys{
      key<&StandardizeOptions::mean>(
          {.name = "mean", .required = true, .help = "mean of each channel or feature, or one for all"}),
      key<&StandardizeOptions::variance>({.name = "variance",
                                          .range = kPositive,
                                          .required = true,
                                          .help = "variance of each, as many numbers as \"mean\""})};
  return kKeys;
}

void Standardize::check(const SettingsReader& read, const StandardizeOptions& o) {
  read.check("mean", !o.mean.empty(), "a number, or one for each channel");
  read.check("variance", o.variance.size() == o.mean.size(), "as many numbers as \"mean\"");
}

void Standardize::compile(PlanBuilder& plan, const Node& node) const {
  std::vector<double> scale, shift;
  for (std::size_t c = 0; c < options_.mean.size(); ++c) {
    scale.push_back(1 / std::sqrt(options_.variance[c]));
    shift.push_back(-options_.mean[c] * scale[c]);
  }
  compile_affine(plan, node, scale, shift);
}

}  // namespace convoke::nn
