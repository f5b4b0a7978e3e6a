#include "nn/layers/winograd_passes.hpp"

#include <optional>

namespace convoke::nn {
namespace {

/// Returns the place of a tensor that may be empty.
std::optional<Ref> place_of(const Tensor& tensor) {
  return tensor ? std::optional(tensor.ref) : std::nullopt;
}
float* at_or_null(const Frame& frame, const std::optional<Ref>& place) {
  return place ? frame.at(*place) : nullptr;
}

Ref scratch_of(PlanBuilder& plan, std::int64_t floats) {
  return plan.scratch(static_cast<std::size_t>(floats) * sizeof(float));
}

/// Returns the memory from which the kernels read the weights: the parameter, or its form `kind`.
Tensor weights_of(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                  WeightForm::Kind kind) {
  const Tensor weight = plan.parameter(node, convolution.weight);
  if (convolution.shape.by_pieces()) return weight;
  return plan.working(node, convolution.weight, {kind, weight.desc});
}

std::vector<Ref> with(std::vector<Ref> uses, const std::optional<Ref>& gate) {
  if (gate) uses.push_back(*gate);
  return uses;
}

}  // namespace

Desc winograd_image(const Dims& dims) {
  return {dims, kFloat, winograd_kernels()->block == 16 ? Format::nChw16c : Format::nChw8c};
}

Desc winograd_weight(const Dims& dims) {
  return {dims, kFloat, winograd_kernels()->block == 16 ? Format::OIhw16i16o : Format::OIhw8i8o};
}

void add_winograd_forward(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                          const Tensor& x, const Tensor& y) {
  const WinogradKernels& kernels = *winograd_kernels();
  const Tensor weights = weights_of(plan, node, convolution, WeightForm::Kind::kWinograd);
  std::optional<Ref> bias;
  if (!convolution.bias.empty()) bias = plan.parameter(node, convolution.bias).ref;
  const Ref scratch = scratch_of(plan, kernels.scratch_floats(convolution.shape));
  plan.add_kernel(
      node, "forward",
      [=, &kernels, shape = convolution.shape, relu = convolution.relu](const Frame& frame) {
        kernels.forward(shape, frame.at(x), frame.at(weights), at_or_null(frame, bias), relu, frame.at(y),
                        frame.at(scratch));
      },
      {x.ref, weights.ref, scratch, y.ref}, y, convolution.flops, {}, kernels.name);
}

namespace {

/// Adds the gradient of weights and bias. If `joined`, also computes the gradient of the data, which is
/// returned.
Tensor add_gradients(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                     const Tensor& x, const Tensor& dy, const Tensor& gate, bool joined) {
  const WinogradKernels& kernels = *winograd_kernels();
  const Tensor dw = plan.gradient_of(node, convolution.weight);
  std::vector<std::size_t> completes{plan.slot(node, convolution.weight)};
  std::optional<Ref> dbias;
  if (!convolution.bias.empty()) {
    dbias = plan.gradient_of(node, convolution.bias).ref;
    completes.push_back(plan.slot(node, convolution.bias));
  }
  Tensor weights, dx;
  std::vector<Ref> uses{x.ref, dy.ref};
  if (joined) {
    weights = weights_of(plan, node, convolution, WeightForm::Kind::kWinogradTransposed);
    dx = plan.allocate(x.desc);
    uses.insert(uses.end(), {weights.ref, dx.ref});
  }
  const Ref scratch = scratch_of(plan, kernels.gradient_scratch_floats(convolution.shape));
  uses.push_back(scratch);
  plan.add_kernel(
      node, joined ? "backward weights, data" : "backward weights",
      [=, &kernels, shape = convolution.shape, gate = place_of(gate), weights = place_of(weights),
       dx = place_of(dx)](const Frame& frame) {
        kernels.weight_gradient(shape, frame.at(x), frame.at(dy), at_or_null(frame, gate), frame.at(dw),
                                at_or_null(frame, dbias), at_or_null(frame, weights), at_or_null(frame, dx),
                                frame.at(scratch));
      },
      with(std::move(uses), place_of(gate)), dw, (joined ? 2 : 1) * convolution.flops, std::move(completes),
      kernels.name);
  return dx;
}

}  // namespace

void add_winograd_weight_gradient(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                                  const Tensor& x, const Tensor& dy, const Tensor& gate) {
  add_gradients(plan, node, convolution, x, dy, gate, false);
}

Tensor add_winograd_gradients(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                              const Tensor& x, const Tensor& dy, const Tensor& gate) {
  return add_gradients(plan, node, convolution, x, dy, gate, true);
}

Tensor add_winograd_data_gradient(PlanBuilder& plan, const Node& node, const WinogradConvolution& convolution,
                                  const Desc& x, const Tensor& dy, const Tensor& gate) {
  const WinogradKernels& kernels = *winograd_kernels();
  const Tensor weights = weights_of(plan, node, convolution, WeightForm::Kind::kWinogradTransposed);
  const Tensor dx = plan.allocate(x);
  const Ref scratch = scratch_of(plan, kernels.scratch_floats(convolution.shape));
  plan.add_kernel(
      node, "backward data",
      [=, &kernels, shape = convolution.shape, gate = place_of(gate)](const Frame& frame) {
        kernels.data_gradient(shape, frame.at(dy), at_or_null(frame, gate), frame.at(weights), frame.at(dx),
                              frame.at(scratch));
      },
      with({dy.ref, weights.ref, scratch, dx.ref}, place_of(gate)), dx, convolution.flops, {}, kernels.name);
  return dx;
}

}  // namespace convoke::nn
