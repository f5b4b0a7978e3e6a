#include "nn/kernels/depthwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/convolution.hpp"

namespace convoke::nn {
namespace {

/// Returns the kernel's shape; it is not supported() if the kernel cannot read the layout of the tensors.
DepthwiseShape shape_of(const ConvolutionSpec& spec, const Tensor& x, const Tensor& dy) {
  const Conv2dOptions& o = spec.options;
  ChannelBlocks in, out;
  const bool depthwise = o.groups == spec.in[0] && o.filters == o.groups;
  const bool one_channel = spec.in[0] == 1 && !depthwise;
  if (!(depthwise || one_channel) || !channel_blocks(x.desc, in) || !channel_blocks(dy.desc, out)) return {};
  if (!out.nested || in.block != (one_channel ? 1 : out.block)) return {};
  const Window2d window = slide(spec.in, o.kernel, o.stride, o.dilation, o.padding);
  return {.samples = in.samples,
          .blocks = out.outer,
          .block = out.block,
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
          .pad_left = window.width.before,
          .one_channel = one_channel};
}

}  // namespace

bool Convolution::add_depthwise_gradient(const Tensor& dy) const {
  PlanBuilder& plan = *plan_;
  const Node& node = *node_;
  const ConvolutionSpec& spec = spec_;
  const Tensor x = x_;
  const DepthwiseShape shape = shape_of(spec, x, dy);
  // A bias that ends within a block would be written beyond its end.
  const bool bias = spec.options.bias;
  if (!shape.supported() || (bias && spec.options.filters % shape.block != 0)) return false;

  const Tensor place = plan.gradient_of(node, spec.weight);
  const Desc blocked = shape.one_channel
                           ? Desc({spec.options.filters, 1, shape.kernel_height, shape.kernel_width}, kFloat,
                                  shape.block == 16 ? Format::Ohwi16o : Format::Ohwi8o)
                           : Desc({spec.options.filters, 1, 1, shape.kernel_height, shape.kernel_width},
                                  kFloat, shape.block == 16 ? Format::Goihw16g : Format::Goihw8g);
  const bool direct_write = place.desc == blocked;
  const Tensor written = direct_write ? place : plan.allocate(blocked);
  const Ref dbias = bias ? plan.gradient_of(node, spec.bias).ref : Ref{};
  std::vector<std::size_t> completes;
  if (bias) completes.push_back(plan.slot(node, spec.bias));
  if (direct_write) completes.push_back(plan.slot(node, spec.weight));
  const double flops = 2.0 * static_cast<double>(shape.samples * spec.options.filters * shape.out_height *
                                                 shape.out_width * shape.kernel_height * shape.kernel_width);
  plan.add_typed_kernel(
      x.desc, node, shape.one_channel ? "backward weights, one channel" : "backward weights, depthwise",
      [=]<class T>(const Frame& frame) {
        kernels<DepthwiseKernels<T>>().backward_weights(shape, frame.at<T>(x), frame.at<T>(dy),
                                                        frame.at(written), frame.at(dbias));
      },
      {x.ref, dy.ref, written.ref, dbias}, written, flops, completes);
  if (!direct_write) plan.write_gradient(node, spec.weight, written);
  return true;
}

}  // namespace convoke::nn
