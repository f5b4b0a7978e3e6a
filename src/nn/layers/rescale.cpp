#include "convoke/nn/layers/rescale.hpp"

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
