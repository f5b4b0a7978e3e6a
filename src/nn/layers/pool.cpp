#include "convoke/nn/layers/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/max_pool.hpp"
#include "nn/layers/resampling.hpp"
#include "nn/layers/shared_keys.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {
namespace {

Shape image_before(const PlanBuilder& plan, const Node& node) {
  const Node* pad = plan.fusion(node).zero_pad;
  const Shape& shape = plan.graph().node(pad == nullptr ? node.inputs[0] : pad->inputs[0]).shape;
  return shape.rank() == 2 ? as_image(shape) : shape;
}

/// Returns one axis of a mean over windows of unequal size: output o covers begin(o)..end(o), limited to the
/// input.
template <class Begin, class End>
AxisTaps means(std::int64_t inputs, std::int64_t outputs, const Begin& begin, const End& end) {
  AxisTaps taps;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::int64_t first = begin(o), last = end(o);
    for (std::int64_t i = std::max<std::int64_t>(0, first); i < std::min(inputs, last); ++i) {
      taps.add(i, 1.0 / static_cast<double>(last - first));
    }
    taps.close();
  }
  return taps;
}

/// Returns windows in which padding counts, but positions beyond the padding do not.
AxisTaps counted_windows(std::int64_t inputs, const Window& window, std::int64_t size, std::int64_t stride,
                         std::int64_t after) {
  const auto begin = [=](std::int64_t o) { return o * stride - window.before; };
  return means(inputs, window.output, begin,
               [=](std::int64_t o) { return std::min(begin(o) + size, inputs + after); });
}

AxisTaps adaptive_windows(std::int64_t inputs, std::int64_t outputs) {
  return means(
      inputs, outputs, [=](std::int64_t o) { return AdaptiveWindow(o, inputs, outputs).begin; },
      [=](std::int64_t o) { return AdaptiveWindow(o, inputs, outputs).end; });
}

/// Shares the planes of all samples among the threads: work(part of the shape, offsets of x and y).
template <class Work>
void share_planes(const MaxPoolShape& shape, const Work& work) {
  const std::int64_t in = shape.in.pixels() * shape.in.block;
  const std::int64_t out = shape.out_height * shape.out_width * shape.in.block;
  share(shape.in.samples * shape.in.outer, in, [&](std::int64_t begin, std::int64_t end, int) {
    MaxPoolShape part = shape;
    part.in.samples = end - begin;
    part.in.outer = 1;
    work(part, begin * in, begin * out);
  });
}

/// Compiles average pooling with oneDNN.
void compile_average(PlanBuilder& plan, const Node& node, const PoolOptions& options,
                     const Window2d& window) {
  const std::size_t from = node.inputs[0];
  const Tensor x = plan.value(from);
  const Dims out{plan.samples(), dims_of(x.desc)[1], window.height.output, window.width.output};
  const Dims strides{options.stride.height, options.stride.width};
  const Dims kernel{options.size.height, options.size.width};
  const Dims before{window.height.before, window.width.before};
  const Dims after{window.height.after, window.width.after};
  const auto average = options.count_padding ? dnnl::algorithm::pooling_avg_include_padding
                                             : dnnl::algorithm::pooling_avg_exclude_padding;
  const auto forward = pooling_forward_desc(
      plan.training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, average,
      x.desc, Desc(out, type_of(x.desc), Format::any), strides, kernel, before, after);
  const Tensor y = plan.allocate(forward.dst_desc());
  plan.add_primitive(node, "forward", dnnl::pooling_forward(forward), forward.impl_info_str(),
                     {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}, forward.scratchpad_desc());
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const auto backward =
        pooling_backward_desc(average, x.desc, y.desc, strides, kernel, before, after, forward);
    const Tensor dx = plan.allocate(x.desc);
    plan.add_primitive(node, "backward data", dnnl::pooling_backward(backward), backward.impl_info_str(),
                       {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}}, backward.scratchpad_desc());
    plan.add_gradient(from, dx, node);
  });
}

/// Throws Error if, with the padding of `options`, a window could see only padding.
void require_less_padding(const PoolOptions& options) {
  const Extent size = options.size;
  for (const Extent& by : {options.padding.before, options.padding.after}) {  // 0 unless explicit
    if (by.height < size.height && by.width < size.width) continue;
    throw Error(fmt::format("padding of {} x {} is not smaller than its window of {} x {}", by.height,
                            by.width, size.height, size.width),
                "use padding = \"same\" or less padding");
  }
}

/// Returns the windows over images (C, H, W). Throws Error if no window fits.
Window2d pool_windows(const Shape& image, const PoolOptions& options) {
  return slide(image, options.size, options.stride, 1, options.padding,
               options.ceil ? Rounding::kCeil : Rounding::kFloor);
}

void compile_max_pool(PlanBuilder& plan, const Node& node, PoolOptions options) {
  const std::size_t from = node.inputs[0];
  if (const Node* pad = plan.fusion(node).zero_pad)
    options.padding = padded_by(options.padding, *pad->layer->traits().zero_border);
  const Window2d window = pool_windows(image_before(plan, node), options);
  ChannelBlocks in;
  const Tensor x = plan.blocked(plan.value(from), node, in);
  const Desc dst = with_layout_of(in, {in.samples, in.channels, window.height.output, window.width.output},
                                  type_of(x.desc));
  const Tensor y = plan.allocate(dst);
  const MaxPoolShape shape{in,
                           window.height.output,
                           window.width.output,
                           options.size.height,
                           options.size.width,
                           options.stride.height,
                           options.stride.width,
                           window.height.before,
                           window.width.before};
  const bool relu = plan.fusion(node).relu;
  // The pixel of the window from which each maximum came.
  const bool keep = plan.training() && plan.needs_gradient(from);
  const Ref winners = keep ? plan.allocate_bytes(elements_of(dst) * sizeof(std::int32_t)) : Ref{};
  plan.add_typed_kernel(
      x.desc, node, relu ? "forward, relu" : "forward",
      [=]<class T>(const Frame& frame) {
        share_planes(shape, [&](const MaxPoolShape& part, std::int64_t x_at, std::int64_t y_at) {
          kernels<MaxPoolKernels<T>>().forward(part, frame.at<T>(x, x_at), frame.at<T>(y, y_at),
                                               frame.integers(winners, y_at), relu);
        });
      },
      {x.ref, y.ref, winners}, y);
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);
  plan.on_gradient(output, node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.allocate(x.desc);
    plan.add_typed_kernel(
        x.desc, node, relu ? "backward data, relu" : "backward data",
        [=]<class T>(const Frame& frame) {
          share_planes(shape, [&](const MaxPoolShape& part, std::int64_t x_at, std::int64_t y_at) {
            kernels<MaxPoolKernels<T>>().backward(part, frame.at<T>(dy) + y_at,
                                                  frame.integers(winners) + y_at, frame.at<T>(dx) + x_at);
          });
        },
        {dy.ref, winners, dx.ref}, dx);
    plan.add_gradient(from, dx, node);
  });
}

void compile_average_pool(PlanBuilder& plan, const Node& node, const PoolOptions& options) {
  const Shape image = image_before(plan, node);
  const Window2d window = pool_windows(image, options);
  const Extent size = options.size, stride = options.stride, after = options.padding.after;
  // oneDNN divides by the whole window, including positions beyond the padding; with "same" there are none.
  if (options.ceil && options.count_padding && options.padding.kind != Padding::Kind::kSame) {
    return compile_resampling(
        plan, node, counted_windows(image[1], window.height, size.height, stride.height, after.height),
        counted_windows(image[2], window.width, size.width, stride.width, after.width));
  }
  compile_average(plan, node, options, window);
}

/// Compiles a pooling of the value of node.inputs[0], forward and backward: images, or sequences as images of
/// one row.
void compile_pool(PlanBuilder& plan, const Node& node, PoolMode mode, const PoolOptions& options) {
  mode == PoolMode::kMax ? compile_max_pool(plan, node, options) : compile_average_pool(plan, node, options);
}

}  // namespace

Pool::Pool(PoolMode mode, PoolOptions options) : KeyedLayer(keys(mode), options), mode_(mode) {
  if (options_.stride == Extent(0)) options_.stride = options_.size;
}

Shape Pool::output_shape(std::span<const ValueSpec> inputs) const {
  require_less_padding(options_);
  const Window2d window = pool_windows(inputs[0], options_);
  return {inputs[0][0], window.height.output, window.width.output};
}

Pool::Keys Pool::keys(PoolMode mode) {
  using O = PoolOptions;
  static constexpr std::array kKeys{kPoolSize<O>, kPoolStride<O>,
                                    key<&O::padding>({.name = "padding", .help = "padding around the image"}),
                                    kCeil<O>, kCountPadding<O>};
  return Keys(kKeys).first(mode == PoolMode::kAverage ? 5 : 4);
}

LayerTraits Pool::traits() const {
  if (mode_ == PoolMode::kAverage) return {};
  const PoolOptions& o = options_;
  const bool inside = o.padding == Padding::valid() && !o.ceil;
  return {.applies_relu = true, .max_windows = {{o.size, inside, inside && o.stride == o.size}}};
}

void Pool::compile(PlanBuilder& plan, const Node& node) const { compile_pool(plan, node, mode_, options_); }

std::string_view GlobalPool::type() const {
  if (over_ == Over::kImage) return mode_ == PoolMode::kMax ? "global_max_pool" : "global_average_pool";
  return mode_ == PoolMode::kMax ? "global_max_pool1d" : "global_average_pool1d";
}

Shape GlobalPool::output_shape(std::span<const ValueSpec> inputs) const {
  if (over_ == Over::kImage) require_image(inputs[0]);
  return {over_ == Over::kImage ? inputs[0][0] : as_image(inputs[0])[0]};
}

void GlobalPool::compile(PlanBuilder& plan, const Node& node) const {
  // The value keeps the four dims (N, C, 1, 1), as that of a flatten does.
  const Shape image = image_before(plan, node);
  const Extent all(image[1], image[2]);
  const PoolOptions options{.size = all, .stride = all};
  compile_pool(plan, node, mode_, options);
}

std::string_view AdaptivePool::type() const {
  return mode_ == PoolMode::kMax ? "adaptive_max_pool" : "adaptive_average_pool";
}

Shape AdaptivePool::output_shape(std::span<const ValueSpec> inputs) const {
  require_image(inputs[0]);
  return {inputs[0][0], options_.size.height, options_.size.width};
}

AdaptivePool::Keys AdaptivePool::keys(PoolMode) {
  static constexpr std::array kKeys{key<&AdaptivePoolOptions::size>(
      {.name = "size", .range = kAtLeastOne, .required = true, .help = "size of the output"})};
  return kKeys;
}

void AdaptivePool::compile(PlanBuilder& plan, const Node& node) const {
  const Shape& in = plan.graph().node(node.inputs[0]).shape;
  if (in[1] % options_.size.height == 0 && in[2] % options_.size.width == 0) {
    const Extent each(in[1] / options_.size.height, in[2] / options_.size.width);
    const PoolOptions options{.size = each, .stride = each};
    return compile_pool(plan, node, mode_, options);
  }
  if (mode_ == PoolMode::kAverage) {
    return compile_resampling(plan, node, adaptive_windows(in[1], options_.size.height),
                              adaptive_windows(in[2], options_.size.width));
  }
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(with_layout_of(blocks, plan.batched(node.shape), type_of(x.desc)));
  const AdaptiveShape shape{blocks, options_.size.height, options_.size.width};
  const bool keep = plan.training() && plan.needs_gradient(from);
  const Ref winners = keep ? plan.allocate_bytes(elements_of(y.desc) * sizeof(std::int32_t)) : Ref{};
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        kernels<MaxPoolKernels<T>>().adaptive_forward(shape, frame.at<T>(x), frame.at<T>(y),
                                                      frame.integers(winners));
      },
      {x.ref, y.ref, winners}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.allocate(x.desc);
    plan.add_typed_kernel(
        x.desc, node, "backward data",
        [=]<class T>(const Frame& frame) {
          kernels<MaxPoolKernels<T>>().adaptive_backward(shape, frame.at<T>(dy), frame.integers(winners),
                                                         frame.at<T>(dx));
        },
        {dy.ref, winners, dx.ref}, dx);
    plan.add_gradient(from, dx, node);
  });
}

Pool1d::Pool1d(PoolMode mode, Pool1dOptions options) : KeyedLayer(keys(mode), options), mode_(mode) {
  if (options_.stride == 0) options_.stride = options_.size;
}

std::string_view Pool1d::type() const { return mode_ == PoolMode::kMax ? "max_pool1d" : "average_pool1d"; }

PoolOptions Pool1d::over_image() const {
  return {.size = {1, options_.size},
          .stride = {1, options_.stride},
          .padding = options_.padding,
          .ceil = options_.ceil,
          .count_padding = options_.count_padding};
}

Shape Pool1d::output_shape(std::span<const ValueSpec> inputs) const {
  const Pool1dOptions& o = options_;
  const std::int64_t most = std::max(o.padding.before.width, o.padding.after.width);
  if (most >= o.size) {  // a window could otherwise see only padding
    throw Error(fmt::format("padding of {} is not smaller than its window of {}", most, o.size),
                "use padding = \"same\" or less padding");
  }
  const Window window =
      slide_sequence(inputs[0], o.size, o.stride, 1, o.padding, o.ceil ? Rounding::kCeil : Rounding::kFloor);
  return {window.output, inputs[0][1]};
}

Pool1d::Keys Pool1d::keys(PoolMode mode) {
  using O = Pool1dOptions;
  static constexpr std::array kKeys{kPoolSize<O>, kPoolStride<O>,
                                    sequence_padding<&O::padding, false>(
                                        {.name = "padding", .help = "padding before and after the sequence"}),
                                    kCeil<O>, kCountPadding<O>};
  return Keys(kKeys).first(mode == PoolMode::kAverage ? 5 : 4);
}

void Pool1d::compile(PlanBuilder& plan, const Node& node) const {
  compile_pool(plan, node, mode_, over_image());
}

}  // namespace convoke::nn
