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
