#include "convoke/nn/layers/pool.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/kernels/max_pool.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// Average pooling by oneDNN, from the value of node.inputs[0] into (N, C, H', W').
void compile_average(PlanBuilder& plan, const Node& node, Extent size, Extent stride,
                     const Window2d& window) {
  const std::size_t from = node.inputs[0];
  const Tensor x = plan.value(from);
  const Dims out{plan.samples(), dims_of(x.desc)[1], window.height.output, window.width.output};
  const Dims strides{stride.height, stride.width};
  const Dims kernel{size.height, size.width};
  const Dims before{window.height.before, window.width.before};
  const Dims after{window.height.after, window.width.after};
  const auto average = dnnl::algorithm::pooling_avg_exclude_padding;
  const auto forward = pooling_forward_desc(
      plan.training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, average,
      x.desc, Desc(out, type_of(x.desc), Format::any), strides, kernel, before, after);
  const Tensor y = plan.allocate(forward.dst_desc());
  plan.add_primitive(node, "forward", dnnl::pooling_forward(forward), forward.impl_info_str(),
                     {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}, forward.scratchpad_desc());
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    if (!plan.needs_gradient(from)) return;
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    const auto backward =
        pooling_backward_desc(average, x.desc, y.desc, strides, kernel, before, after, forward);
    const Tensor dx = plan.allocate(x.desc);
    plan.add_primitive(node, "backward data", dnnl::pooling_backward(backward), backward.impl_info_str(),
                       {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}}, backward.scratchpad_desc());
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace

Pool::Pool(PoolOptions options) : options_(options) {
  if (options_.stride == Extent(0)) options_.stride = options_.size;
}

Shape Pool::output_shape(std::span<const ValueSpec> inputs) const {
  const Extent size = options_.size, around = options_.padding.amount;  // 0 unless explicit
  if (around.height >= size.height || around.width >= size.width) {     // a window might see nothing else
    throw Error(fmt::format("padding of {} x {} is not smaller than its window of {} x {}", around.height,
                            around.width, size.height, size.width),
                "use padding = \"same\" or less of it");
  }
  const Window2d window = slide(inputs[0], size, options_.stride, 1, options_.padding);
  return {inputs[0][0], window.height.output, window.width.output};
}

Settings Pool::settings() const {
  return {{"layer", type()},
          {"size", write_extent(options_.size)},
          {"stride", write_extent(options_.stride)},
          {"padding", write_padding(options_.padding)}};
}

bool Pool::tiles() const { return options_.stride == options_.size && options_.padding == Padding::valid(); }

PoolOptions Pool::read_options(SettingsReader& read) {
  PoolOptions o;
  o.size = read_extent(read, "size", o.size);
  o.stride = read_extent(read, "stride", o.size);
  o.padding = read_padding(read, "padding", o.padding);
  return o;
}

void MaxPool::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Window2d window =
      slide(plan.graph().node(from).shape, options().size, options().stride, 1, options().padding);
  ChannelBlocks in;
  const Tensor x = plan.blocked(plan.value(from), node, in);
  const Desc dst = with_layout_of(in, plan.batched(node.shape), type_of(x.desc));
  const Tensor y = plan.allocate(dst);
  const MaxPoolShape shape{in,
                           window.height.output,
                           window.width.output,
                           options().size.height,
                           options().size.width,
                           options().stride.height,
                           options().stride.width,
                           window.height.before,
                           window.width.before};
  const bool relu = plan.fusion(node).relu;
  // Which pixel of its window each maximum came from.
  const bool keep = plan.training() && plan.needs_gradient(from);
  const Ref winners = keep ? plan.allocate_bytes(elements_of(dst) * sizeof(std::int32_t)) : Ref{};
  std::vector<Ref> uses{x.ref, y.ref};
  if (keep) uses.push_back(winners);
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, relu ? "forward, relu" : "forward",
        [=](const Frame& frame) {
          max_pool_forward(shape, frame.at<T>(x), frame.at<T>(y), keep ? frame.integers(winners) : nullptr,
                           relu);
        },
        uses, y);
  });
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);
  if (!keep) return;
  plan.on_backward([=, &plan, &node] {
    const Tensor dy = plan.gradient_like_value(output, node);
    if (!dy) return;
    const Tensor dx = plan.allocate(x.desc);
    with_stored_type(x.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(
          node, relu ? "backward data, relu" : "backward data",
          [=](const Frame& frame) {
            max_pool_backward(shape, frame.at<T>(dy), frame.integers(winners), frame.at<T>(dx));
          },
          {dy.ref, winners, dx.ref}, dx);
    });
    plan.add_gradient(from, dx, node);
  });
}

void AveragePool::compile(PlanBuilder& plan, const Node& node) const {
  compile_average(
      plan, node, options().size, options().stride,
      slide(plan.graph().node(node.inputs[0]).shape, options().size, options().stride, 1, options().padding));
}

Shape GlobalAveragePool::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].rank() != 3) {
    throw Error(fmt::format("needs images (N, C, H, W), but its input is {}", inputs[0].with_batch()),
                "put it before the flatten or dense layer");
  }
  return {inputs[0][0]};
}

Settings GlobalAveragePool::settings() const { return {{"layer", "global_average_pool"}}; }

void GlobalAveragePool::compile(PlanBuilder& plan, const Node& node) const {
  // Its value keeps the four dims (N, C, 1, 1), like that of a flatten.
  const Shape& in = plan.graph().node(node.inputs[0]).shape;
  const Extent all(in[1], in[2]);
  compile_average(plan, node, all, all, {{1, 0, 0}, {1, 0, 0}});
}

Symbol max_pool(Symbol x, PoolOptions options) {
  return {x.graph, x.graph->add(std::make_shared<MaxPool>(options), {x.node})};
}
Symbol average_pool(Symbol x, PoolOptions options) {
  return {x.graph, x.graph->add(std::make_shared<AveragePool>(options), {x.node})};
}
Symbol global_average_pool(Symbol x) {
  return {x.graph, x.graph->add(std::make_shared<GlobalAveragePool>(), {x.node})};
}

}  // namespace convoke::nn
