#include "nn/layers/depthwise_gradient.hpp"

#include <algorithm>
#include <utility>

#include "nn/kernels/depthwise.hpp"
#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

bool is_depthwise(const ConvolutionSpec& spec) {
  return spec.options.groups > 1 && spec.options.groups == spec.in[0] && spec.options.filters == spec.in[0];
}

/// Returns the kernel's shape; it is not supported() if the kernel cannot read the layout of the tensors.
DepthwiseShape shape_of(const ConvolutionSpec& spec, const Tensor& x, const Tensor& dy) {
  const Conv2dOptions& o = spec.options;
  ChannelBlocks in, out;
  if (!is_depthwise(spec) || !channel_blocks(x.desc, in) || !channel_blocks(dy.desc, out)) return {};
  if (!in.nested || !out.nested || in.block != out.block) return {};
  const Window2d window = slide(spec.in, o.kernel, o.stride, o.dilation, o.padding);
  return {.samples = in.samples,
          .blocks = in.outer,
          .block = in.block,
          .height = in.height,
          .width = in.width,
          .out_height = out.height,
          .out_width = out.width,
          .kernel_height = o.kernel.height,
          .kernel_width = o.kernel.width,
          .stride_height = o.stride.height,
          .stride_width = o.stride.width,
          .dilation_height = o.dilation.height,
          .dilation_width = o.dilation.width,
          .pad_top = window.height.before,
          .pad_left = window.width.before};
}

}  // namespace

bool add_depthwise_gradient(PlanBuilder& plan, const Node& node, const ConvolutionSpec& spec, const Tensor& x,
                            const Tensor& dy) {
  const DepthwiseShape shape = shape_of(spec, x, dy);
  // A bias that ends within a block would be written beyond its end.
  const bool bias = spec.options.bias;
  if (!shape.supported() || (bias && spec.options.filters % shape.block != 0)) return false;

  const Tensor place = plan.gradient_of(node, spec.weight);
  const Desc blocked({spec.options.filters, 1, 1, shape.kernel_height, shape.kernel_width}, kFloat,
                     shape.block == 16 ? Format::Goihw16g : Format::Goihw8g);
  const bool direct_write = place.desc == blocked;
  const Tensor written = direct_write ? place : plan.allocate(blocked);
  std::vector<Ref> uses{x.ref, dy.ref, written.ref};
  std::vector<std::size_t> completes;
  Ref dbias{};
  if (bias) {
    dbias = plan.gradient_of(node, spec.bias).ref;
    uses.push_back(dbias);
    completes.push_back(plan.slot(node, spec.bias));
  }
  if (direct_write) completes.push_back(plan.slot(node, spec.weight));
  const double flops = 2.0 * static_cast<double>(shape.samples * spec.options.filters * shape.out_height *
                                                 shape.out_width * shape.kernel_height * shape.kernel_width);
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "backward weights, depthwise",
        [=](const Frame& frame) {
          kernels<DepthwiseKernels<T>>().backward_weights(
              shape, frame.at<T>(x), frame.at<T>(dy), frame.at(written), bias ? frame.at(dbias) : nullptr);
        },
        std::move(uses), written, flops, completes);
  });
  if (!direct_write) plan.write_gradient(node, spec.weight, written);
  return true;
}

namespace {

/// Returns the channels that a layout of depthwise weights keeps together: 16 or 8, 0 for other layouts.
std::int64_t weight_block(const Desc& weight) {
  const Dims dims = dims_of(weight);
  if (weight == Desc(dims, type_of(weight), Format::Goihw16g)) return 16;
  return weight == Desc(dims, type_of(weight), Format::Goihw8g) ? 8 : 0;
}

}  // namespace

//   dx[h, w] = sum over i, j of dy[h + p - i d, w + p - j d] W[i, j]
// That is a convolution of dy with W[K - 1 - i, K - 1 - j], and with a padding of (K - 1) d - p.
Tensor add_depthwise_data_gradient(PlanBuilder& plan, const Node& node, const ConvolutionSpec& spec,
                                   const WeightedPrimitive& weighted, const Desc& x, const Tensor& dy) {
  using Forward = dnnl::convolution_forward;
  const Conv2dOptions& o = spec.options;
  if (!is_depthwise(spec) || !(o.stride == Extent(1))) return {};
  const Window2d window = slide(spec.in, o.kernel, o.stride, o.dilation, o.padding);
  const std::int64_t reach_h = (o.kernel.height - 1) * o.dilation.height,
                     reach_w = (o.kernel.width - 1) * o.dilation.width;
  const Dims before{reach_h - window.height.before, reach_w - window.width.before},
      after{reach_h - window.height.after, reach_w - window.width.after};
  if (std::ranges::min(before) < 0 || std::ranges::min(after) < 0) return {};
  const auto pass =
      forward_desc<Forward>(attributes(), dnnl::prop_kind::forward_training,
                            dnnl::algorithm::convolution_direct, dy.desc, weighted.any_weight(), Desc(), x,
                            Dims{1, 1}, Dims{o.dilation.height - 1, o.dilation.width - 1}, before, after);
  const Desc layout = pass.weights_desc();
  const std::int64_t block = weight_block(layout), taps = o.kernel.height * o.kernel.width;
  if (block == 0 || is_reference(pass.impl_info_str())) return {};

  const Tensor weight = plan.working(node, spec.weight, layout), flipped = plan.allocate(layout);
  const std::int64_t blocks = (o.filters + block - 1) / block;
  with_stored_type(layout, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "flip of weights",
        [=](const Frame& frame) {
          for (std::int64_t i = 0; i < blocks * taps; ++i) {
            const std::int64_t from = i / taps * taps + (taps - 1 - i % taps);
            std::copy_n(frame.at<T>(weight) + from * block, block, frame.at<T>(flipped) + i * block);
          }
        },
        {weight.ref, flipped.ref}, flipped);
  });
  const Tensor dx = plan.allocate(x);
  const double flops = 2.0 * static_cast<double>(plan.samples() * o.filters * window.height.output *
                                                 window.width.output * taps);
  plan.add_primitive(node, "backward data", Forward(pass), pass.impl_info_str(),
                     {{DNNL_ARG_SRC, dy}, {DNNL_ARG_WEIGHTS, flipped}, {DNNL_ARG_DST, dx}},
                     pass.scratchpad_desc(), flops);
  return dx;
}

}  // namespace convoke::nn
