#include "nn/plan/plan_source.hpp"

#include "convoke/nn/freeze.hpp"

namespace convoke::nn {

PlanSource::PlanSource(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options)
    : graph_(graph),
      layout_(layout),
      options_(options),
      fusions_(fuse(graph, options.post_ops)),
      inference_(inference_nodes(graph)) {}

Dims PlanSource::batched(const Shape& shape) const {
  if (shape.rank() == 2) return {samples(), shape[1], 1, shape[0]};
  Dims dims{samples()};
  dims.insert(dims.end(), shape.extents().begin(), shape.extents().end());
  return dims;
}

Desc PlanSource::plain_desc(const Shape& shape, Type type) const {
  static constexpr Format kFormats[] = {Format::nc, Format::nhwc, Format::nchw};
  return {batched(shape), type, kFormats[shape.rank() - 1]};
}

bool PlanSource::feeds_loss(const Node& node) const {
  const Node& last = graph_.nodes().back();
  const std::size_t value = fusion(node).output;
  if (value == last.index) return true;
  return last.layer->traits().joins_loss && last.inputs[0] == value;
}

}  // namespace convoke::nn
