#include "nn/kernels/conv2d_max_pool.hpp"
#include "nn/kernels/instruction_sets.hpp"
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

}  // namespace convoke::nn
