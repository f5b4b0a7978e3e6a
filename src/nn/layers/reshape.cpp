#include "convoke/nn/layers/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "convoke/core/error.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// Returns a node's value in row-major memory.
Tensor plain(PlanBuilder& plan, const Tensor& tensor, const Shape& shape, const Node& node) {
  return plan.reordered(tensor, plan.plain_desc(shape, type_of(tensor.desc)), node);
}

/// Compiles `node`: it reads the row-major memory of its input with the node's shape.
void compile_reshape(PlanBuilder& plan, const Node& node) {
  const std::size_t from = node.inputs[0];
  Tensor y = plain(plan, plan.value(from), plan.graph().node(from).shape, node);
  y.desc = plan.plain_desc(node.shape, type_of(y.desc));
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](Tensor dx) {
    dx.desc = plan.plain_desc(plan.graph().node(from).shape, type_of(dx.desc));
    plan.add_gradient(from, dx, node);
  });
}

/// Adds the step that transposes row-major `x` of extents `in` to row-major memory of extents in[order[0]],
/// in[order[1]], ...
Tensor transposed(PlanBuilder& plan, const Node& node, const char* what, const Tensor& x, const Shape& in,
                  const std::vector<std::size_t>& order, const Shape& out) {
  static constexpr Format kFormats[] = {Format::ab, Format::abc, Format::abcd};
  Dims dims{plan.samples()}, strides{in.elements()};
  for (const std::size_t axis : order) {
    dims.push_back(in[axis]);
    std::int64_t stride = 1;
    for (std::size_t later = axis + 1; later < in.rank(); ++later) stride *= in[later];
    strides.push_back(stride);
  }
  const Type type = type_of(x.desc);
  const Tensor from{Desc(dims, type, strides), x.ref};
  const Tensor to = plan.allocate(Desc(dims, type, kFormats[order.size() - 1]));
  const dnnl::reorder::primitive_desc pd(engine(), from.desc, engine(), to.desc, attributes());
  plan.add_primitive(node, what, dnnl::reorder(pd), pd.impl_info_str(),
                     {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, pd.scratchpad_desc());
  return {plan.plain_desc(out, type), to.ref};
}

}  // namespace

void Flatten::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  if (plan.graph().node(from).shape.rank() != 2) return plan.set_alias(node.index, from);
  compile_reshape(plan, node);  // a sequence: its row-major memory is read as a vector
}

void Identity::compile(PlanBuilder& plan, const Node& node) const {
  plan.set_alias(node.index, node.inputs[0]);
}

Shape Reshape::output_shape(std::span<const ValueSpec> inputs) const {
  std::vector<std::int64_t> extents = options_.shape;
  const auto open = std::find(extents.begin(), extents.end(), -1);
  const std::int64_t all = inputs[0].elements();
  if (open != extents.end()) {
    *open = 1;
    const std::int64_t known = Shape(extents).elements();
    *open = all % known == 0 ? all / known : -1;
  }
  const Shape shape(extents);
  if (shape.elements() != all) {
    throw Error(fmt::format("its input {} has {} elements, which do not fit the shape {}",
                            inputs[0].with_batch(), all, shape.with_batch()),
                "give a shape with as many elements, or -1 for one extent");
  }
  return shape;
}

Reshape::Keys Reshape::keys() {
  static constexpr std::array kKeys{key<&ReshapeOptions::shape>(
      {.name = "shape", .required = true, .help = "the new shape; one extent may be -1"})};
  return kKeys;
}

void Reshape::check(const SettingsReader& read, const ReshapeOptions& o) {
  const auto& shape = o.shape;
  const bool good = std::all_of(shape.begin(), shape.end(), [](std::int64_t e) { return e >= 1 || e == -1; });
  read.check("shape",
             good && !shape.empty() && shape.size() <= 3 && std::count(shape.begin(), shape.end(), -1) <= 1,
             "one to three extents of at least 1; one may be -1");
}

void Reshape::compile(PlanBuilder& plan, const Node& node) const { compile_reshape(plan, node); }

Shape Permute::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  if (in.rank() != options_.dims.size()) {
    throw Error(fmt::format("has {} dims, but its input {} has {} axes", options_.dims.size(),
                            in.with_batch(), in.rank()),
                "name every axis once, counted from 1, without the batch");
  }
  std::vector<std::int64_t> extents;
  for (const std::int64_t dim : options_.dims) extents.push_back(in[static_cast<std::size_t>(dim - 1)]);
  return Shape(extents);
}

Permute::Keys Permute::keys() {
  static constexpr std::array kKeys{key<&PermuteOptions::dims>(
      {.name = "dims", .required = true, .help = "for each axis, the axis of the input, counted from 1"})};
  return kKeys;
}

void Permute::check(const SettingsReader& read, const PermuteOptions& o) {
  std::vector<std::int64_t> sorted = o.dims, all(o.dims.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 1);
  read.check("dims", sorted == all && !all.empty() && all.size() <= 3,
             "every axis once, counted from 1: [2, 1] for sequences, three axes for images");
}

void Permute::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Shape in = plan.graph().node(from).shape;
  std::vector<std::size_t> order, inverse(options_.dims.size());
  for (const std::int64_t dim : options_.dims) {
    inverse[static_cast<std::size_t>(dim - 1)] = order.size();
    order.push_back(static_cast<std::size_t>(dim - 1));
  }
  const Tensor x = plain(plan, plan.value(from), in, node);
  plan.set_value(node.index, transposed(plan, node, "forward", x, in, order, node.shape));
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    plan.add_gradient(from, transposed(plan, node, "backward", dy, node.shape, inverse, in), node);
  });
}

}  // namespace convoke::nn
