// The passes of convolutions that our own kernels compute.
#include "nn/kernels/depthwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/max_pool.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {

void compile_conv2d_max_pool(PlanBuilder& plan, const Node& node, const Conv2dOptions& options) {
  const Fusion& fusion = plan.fusion(node);
  const std::size_t output = fusion.output;
  const bool relu = fusion.relu;
  const Shape& in = plan.graph().node(0).shape;
  const Shape& out = fusion.max_pool->shape;
  const Conv2dMaxPoolShape shape{plan.samples(), in[0], in[1], in[2], out[0], out[1], out[2]};
  const double flops = 2.0 * static_cast<double>(plan.samples() * node.shape.elements() * in[0] *
                                                 options.kernel.height * options.kernel.width);

  plan.prefer(
      node, "weight",
      Desc({options.filters, in[0], options.kernel.height, options.kernel.width}, kFloat, Format::hwio));
  if (options.bias) plan.prefer(node, "bias", Desc({options.filters}, kFloat, Format::x));
  const Tensor x = plan.value(0);  // fp32 in any precision, as are the weights: the sums are
  const Tensor y = plan.allocate(Desc(plan.batched(out), plan.stored(), Format::nChw16c));
  const Ref weight = plan.parameter(node, "weight").ref;
  const Ref bias = options.bias ? plan.parameter(node, "bias").ref : Ref{};
  const Ref winners =
      plan.training() ? plan.allocate_bytes(elements_of(y.desc) * sizeof(std::int32_t)) : Ref{};
  plan.add_typed_kernel(
      y.desc, node, relu ? "forward, relu, max_pool" : "forward, max_pool",
      [=]<class T>(const Frame& frame) {
        const std::int64_t size = shape.channels * shape.height * shape.width;
        const std::int64_t out_size = shape.filters * shape.out_height * shape.out_width;
        share(shape.samples, out_size, [&](std::int64_t begin, std::int64_t end, int) {
          Conv2dMaxPoolShape part = shape;
          part.samples = end - begin;
          kernels<Conv2dMaxPoolKernels<T>>().forward(part, frame.at(x, begin * size), frame.at(weight),
                                                     frame.at(bias), frame.at<T>(y, begin * out_size),
                                                     frame.integers(winners, begin * out_size), relu);
        });
      },
      {x.ref, y.ref, winners}, y, flops);
  plan.set_value(output, y);
  if (!plan.trains(node)) return;

  plan.on_gradient(output, node, [=, &plan, &node](const Tensor& dy) {
    const Ref dweight = plan.gradient_of(node, "weight").ref;
    const Ref dbias = bias ? plan.gradient_of(node, "bias").ref : Ref{};
    std::vector<std::size_t> completes{plan.slot(node, "weight")};
    if (bias) completes.push_back(plan.slot(node, "bias"));
    plan.add_typed_kernel(
        dy.desc, node, "backward weights, max_pool",
        [=]<class T>(const Frame& frame) {
          kernels<Conv2dMaxPoolKernels<T>>().backward(shape, frame.at(x), frame.at<T>(dy),
                                                      frame.integers(winners), frame.at(dweight),
                                                      frame.at(dbias));
        },
        {x.ref, dy.ref, winners}, {}, flops, completes);
  });
}

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

namespace {

Ref scratch_of(PlanBuilder& plan, std::int64_t floats) {
  return plan.scratch(static_cast<std::size_t>(floats) * sizeof(float));
}

/// The scratch memory of forward or of the data gradient, for each thread that may run it.
struct Scratch {
  std::int64_t floats;  ///< of one thread, in whole cache lines
  int threads = step_threads();
  Ref ref;

  Scratch(PlanBuilder& plan, const WinogradShape& shape)
      : floats((winograd_kernels()->scratch_floats(shape) + 15) / 16 * 16),
        ref(scratch_of(plan, threads * floats)) {}
};

/// Shares the samples of these passes among the threads: work(part of the shape, offsets of x and y, offset
/// of the scratch memory).
template <class Work>
void share_samples(const WinogradShape& shape, const Scratch& scratch, const Work& work) {
  const std::int64_t in = shape.in_channels * shape.in_height * shape.in_width;
  const std::int64_t out = shape.out_channels * shape.out_height * shape.out_width;
  share(
      shape.samples, in + out,
      [&](std::int64_t begin, std::int64_t end, int thread) {
        WinogradShape part = shape;
        part.samples = end - begin;
        work(part, begin * in, begin * out, thread * scratch.floats);
      },
      scratch.threads);
}

}  // namespace

Desc winograd_image(const Dims& dims, Type type) {
  return {dims, type, winograd_kernels()->block == 16 ? Format::nChw16c : Format::nChw8c};
}

Desc winograd_weight(const Dims& dims) {
  return {dims, kFloat, winograd_kernels()->block == 16 ? Format::OIhw16i16o : Format::OIhw8i8o};
}

Tensor Convolution::winograd_weights(WeightForm::Kind kind) const {
  const Tensor weight = weighted_.parameter();
  if (winograd_->by_pieces()) return weight;
  return plan_->working(*node_, spec_.weight, {kind, weight.desc});
}

void Convolution::add_winograd_forward() const {
  const WinogradKernels* const kernels = winograd_kernels();
  const Tensor weights = winograd_weights(WeightForm::Kind::kWinograd), x = x_, y = y_;
  const Ref bias = weighted_.has_bias() ? plan_->parameter(*node_, spec_.bias).ref : Ref{};
  const Scratch scratch(*plan_, *winograd_);
  const bool relu = spec_.activation == FusibleActivation::kRelu && !spec_.addend;
  plan_->add_typed_kernel(
      x.desc, *node_, "forward",
      [=, shape = *winograd_]<class T>(const Frame& frame) {
        share_samples(shape, scratch,
                      [&](const WinogradShape& part, std::int64_t in, std::int64_t out, std::int64_t own) {
                        kernels->passes<T>().forward(part, frame.at<T>(x, in), frame.at(weights),
                                                     frame.at(bias), relu, frame.at<T>(y, out),
                                                     frame.at(scratch.ref, own));
                      });
      },
      {x.ref, weights.ref, scratch.ref, y.ref}, y, geometry_.flops, {}, kernels->name);
}

Tensor Convolution::add_winograd_gradients(const Tensor& dy, const Tensor& gate, bool joined) const {
  PlanBuilder& plan = *plan_;
  const Node& node = *node_;
  const WinogradKernels* const kernels = winograd_kernels();
  const Tensor x = x_, dw = plan.gradient_of(node, spec_.weight);
  std::vector<std::size_t> completes{plan.slot(node, spec_.weight)};
  Ref dbias;
  if (weighted_.has_bias()) {
    dbias = plan.gradient_of(node, spec_.bias).ref;
    completes.push_back(plan.slot(node, spec_.bias));
  }
  Tensor weights, dx;
  if (joined) {
    weights = winograd_weights(WeightForm::Kind::kWinogradTransposed);
    dx = plan.allocate(x.desc);
  }
  const Ref scratch = scratch_of(plan, kernels->gradient_scratch_floats(*winograd_));
  plan.add_typed_kernel(
      x.desc, node, joined ? "backward weights, data" : "backward weights",
      [=, shape = *winograd_]<class T>(const Frame& frame) {
        kernels->passes<T>().weight_gradient(shape, frame.at<T>(x), frame.at<T>(dy), frame.at<T>(gate),
                                             frame.at(dw), frame.at(dbias), frame.at(weights),
                                             frame.at<T>(dx), frame.at(scratch));
      },
      {x.ref, dy.ref, weights.ref, dx.ref, scratch, gate.ref}, dw, (joined ? 2 : 1) * geometry_.flops,
      completes, kernels->name);
  return dx;
}

Tensor Convolution::add_winograd_data_gradient(const Tensor& dy, const Tensor& gate) const {
  const WinogradKernels* const kernels = winograd_kernels();
  const Tensor weights = winograd_weights(WeightForm::Kind::kWinogradTransposed);
  const Tensor dx = plan_->allocate(x_.desc);
  const Scratch scratch(*plan_, *winograd_);
  plan_->add_typed_kernel(
      x_.desc, *node_, "backward data",
      [=, shape = *winograd_]<class T>(const Frame& frame) {
        share_samples(shape, scratch,
                      [&](const WinogradShape& part, std::int64_t in, std::int64_t out, std::int64_t own) {
                        kernels->passes<T>().data_gradient(part, frame.at<T>(dy, out), frame.at<T>(gate, out),
                                                           frame.at(weights), frame.at<T>(dx, in),
                                                           frame.at(scratch.ref, own));
                      });
      },
      {dy.ref, weights.ref, scratch.ref, dx.ref, gate.ref}, dx, geometry_.flops, {}, kernels->name);
  return dx;
}

}  // namespace convoke::nn
