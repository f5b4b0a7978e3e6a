#include "nn/layers/convolution.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {
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

/// Returns the memory from which the kernels read the weights: the parameter, or its form `kind`.
Tensor weights_of(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                  WeightForm::Kind kind) {
  const Tensor weight = plan.parameter(node, convolution.weight);
  if (convolution.shape.by_pieces()) return weight;
  return plan.working(node, convolution.weight, {kind, weight.desc});
}

}  // namespace

Desc winograd_image(const Dims& dims, Type type) {
  return {dims, type, winograd_kernels()->block == 16 ? Format::nChw16c : Format::nChw8c};
}

Desc winograd_weight(const Dims& dims) {
  return {dims, kFloat, winograd_kernels()->block == 16 ? Format::OIhw16i16o : Format::OIhw8i8o};
}

void add_winograd_forward(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                          const Tensor& x, const Tensor& y) {
  const WinogradKernels* const kernels = winograd_kernels();
  const Tensor weights = weights_of(plan, node, convolution, WeightForm::Kind::kWinograd);
  const Ref bias = convolution.bias.empty() ? Ref{} : plan.parameter(node, convolution.bias).ref;
  const Scratch scratch(plan, convolution.shape);
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=, shape = convolution.shape, relu = convolution.relu]<class T>(const Frame& frame) {
        share_samples(shape, scratch,
                      [&](const WinogradShape& part, std::int64_t in, std::int64_t out, std::int64_t own) {
                        kernels->passes<T>().forward(part, frame.at<T>(x, in), frame.at(weights),
                                                     frame.at(bias), relu, frame.at<T>(y, out),
                                                     frame.at(scratch.ref, own));
                      });
      },
      {x.ref, weights.ref, scratch.ref, y.ref}, y, convolution.flops, {}, kernels->name);
}

Tensor add_winograd_gradients(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                              const Tensor& x, const Tensor& dy, const Tensor& gate, bool joined) {
  const WinogradKernels* const kernels = winograd_kernels();
  const Tensor dw = plan.gradient_of(node, convolution.weight);
  std::vector<std::size_t> completes{plan.slot(node, convolution.weight)};
  Ref dbias;
  if (!convolution.bias.empty()) {
    dbias = plan.gradient_of(node, convolution.bias).ref;
    completes.push_back(plan.slot(node, convolution.bias));
  }
  Tensor weights, dx;
  if (joined) {
    weights = weights_of(plan, node, convolution, WeightForm::Kind::kWinogradTransposed);
    dx = plan.allocate(x.desc);
  }
  const Ref scratch = scratch_of(plan, kernels->gradient_scratch_floats(convolution.shape));
  plan.add_typed_kernel(
      x.desc, node, joined ? "backward weights, data" : "backward weights",
      [=, shape = convolution.shape]<class T>(const Frame& frame) {
        kernels->passes<T>().weight_gradient(shape, frame.at<T>(x), frame.at<T>(dy), frame.at<T>(gate),
                                             frame.at(dw), frame.at(dbias), frame.at(weights),
                                             frame.at<T>(dx), frame.at(scratch));
      },
      {x.ref, dy.ref, weights.ref, dx.ref, scratch, gate.ref}, dw, (joined ? 2 : 1) * convolution.flops,
      completes, kernels->name);
  return dx;
}

Tensor add_winograd_data_gradient(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                                  const Desc& x, const Tensor& dy, const Tensor& gate) {
  const WinogradKernels* const kernels = winograd_kernels();
  const Tensor weights = weights_of(plan, node, convolution, WeightForm::Kind::kWinogradTransposed);
  const Tensor dx = plan.allocate(x);
  const Scratch scratch(plan, convolution.shape);
  plan.add_typed_kernel(
      x, node, "backward data",
      [=, shape = convolution.shape]<class T>(const Frame& frame) {
        share_samples(shape, scratch,
                      [&](const WinogradShape& part, std::int64_t in, std::int64_t out, std::int64_t own) {
                        kernels->passes<T>().data_gradient(part, frame.at<T>(dy, out), frame.at<T>(gate, out),
                                                           frame.at(weights), frame.at<T>(dx, in),
                                                           frame.at(scratch.ref, own));
                      });
      },
      {dy.ref, weights.ref, scratch.ref, dx.ref, gate.ref}, dx, convolution.flops, {}, kernels->name);
  return dx;
}

}  // namespace convoke::nn
