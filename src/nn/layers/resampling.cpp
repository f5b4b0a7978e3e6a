#include "nn/layers/resampling.hpp"

#include <memory>

#include "nn/kernels/instruction_sets.hpp"
namespace convoke::nn {
namespace {

using Map = std::shared_ptr<const std::pair<AxisTaps, AxisTaps>>;  // a step is copied, its tables are not

/// Returns the map from gradients of the outputs to gradients of `inputs` inputs.
AxisTaps transposed(const AxisTaps& taps, std::int64_t inputs) {
  AxisTaps result;
  for (std::int64_t input = 0; input < inputs; ++input) {
    for (std::int64_t o = 0; o < taps.outputs(); ++o) {
      for (auto t = static_cast<std::size_t>(taps.first[static_cast<std::size_t>(o)]);
           t < static_cast<std::size_t>(taps.first[static_cast<std::size_t>(o) + 1]); ++t) {
        if (taps.index[t] == input) result.add(o, taps.weight[t]);
      }
    }
    result.close();
  }
  return result;
}

/// Adds the step y = map of x, where `in` is the layout of x.
void add_resampling(PlanBuilder& plan, const Node& node, const char* what, const ChannelBlocks& in,
                    const Map& map, const Tensor& x, const Tensor& y) {
  plan.add_typed_kernel(
      x.desc, node, what,
      [=]<class T>(const Frame& frame) {
        kernels<ResampleKernels<T>>().resample(in, map->first, map->second, frame.at<T>(x), frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
}

}  // namespace

void compile_resampling(PlanBuilder& plan, const Node& node, const AxisTaps& rows, const AxisTaps& columns) {
  const std::size_t from = node.inputs[0];
  ChannelBlocks in;
  const Tensor x = plan.blocked(plan.value(from), node, in);
  const Dims out{in.samples, in.channels, rows.outputs(), columns.outputs()};
  const Tensor y = plan.allocate(with_layout_of(in, out, type_of(x.desc)));
  add_resampling(plan, node, "forward", in, std::make_shared<std::pair<AxisTaps, AxisTaps>>(rows, columns), x,
                 y);
  plan.set_value(node.index, y);
  if (!plan.training() || !plan.needs_gradient(from)) return;
  const auto back = std::make_shared<std::pair<AxisTaps, AxisTaps>>(transposed(rows, in.height),
                                                                    transposed(columns, in.width));
  const std::int64_t height = rows.outputs(), width = columns.outputs();
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    ChannelBlocks blocks = in;  // not derived from dy: the layout of a single pixel is ambiguous
    blocks.height = height;
    blocks.width = width;
    const Tensor dx = plan.allocate(x.desc);
    add_resampling(plan, node, "backward data", blocks, back, dy, dx);
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
