// The layouts of a plan's values, and the steps that convert one into another.
#include <algorithm>

#include "convoke/core/error.hpp"

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

Dims PlanBuilder::batched(const Shape& shape) const {
  if (shape.rank() == 2) return {samples(), shape[1], 1, shape[0]};
  Dims dims{samples()};
  dims.insert(dims.end(), shape.extents().begin(), shape.extents().end());
  return dims;
}

Desc PlanBuilder::plain_desc(const Shape& shape, Type type) const {
  static constexpr Format kFormats[] = {Format::nc, Format::nhwc, Format::nchw};
  return {batched(shape), type, kFormats[shape.rank() - 1]};
}

Tensor PlanBuilder::value_as(std::size_t node, Type type, const Node& reader) {
  const Tensor as_is = value(node);
  if (type_of(as_is.desc) == type) return as_is;
  const std::pair key(as_is.ref, type);
  const auto known = converted_.find(key);
  if (known != converted_.end()) return known->second;
  return converted_.emplace(key, retyped(as_is, type, reader)).first->second;
}

std::vector<Tensor> PlanBuilder::values_alike(const Node& node) {
  std::vector<Tensor> values;
  for (const std::size_t from : node.inputs) values.push_back(value_as(from, stored(), node));
  const auto nested = std::find_if(values.begin(), values.end(), [](const Tensor& tensor) {
    ChannelBlocks blocks;
    return channel_blocks(tensor.desc, blocks) && blocks.nested;
  });
  const Desc desc = nested == values.end() ? values[0].desc : nested->desc;
  for (Tensor& tensor : values) tensor = reordered(tensor, desc, node);
  return values;
}

Tensor PlanBuilder::retyped(const Tensor& tensor, Type type, const Node& node) {
  if (type_of(tensor.desc) == type) return tensor;
  ChannelBlocks blocks;
  const Dims dims = dims_of(tensor.desc);
  if (channel_blocks(tensor.desc, blocks)) return reordered(tensor, with_layout_of(blocks, dims, type), node);
  return reordered(tensor, Desc(dims, type, dims.size() == 4 ? Format::nhwc : Format::nc), node);
}

Tensor PlanBuilder::reordered(const Tensor& tensor, const Desc& desc, const Node& node) {
  if (tensor.desc == desc) return tensor;
  Tensor from = tensor;
  Tensor to = allocate(desc);
  if (dims_of(tensor.desc) != dims_of(desc)) {
    // Only a plain layout can change its shape: (N, C, H, W) <-> (N, F).
    if (dims_of(desc).size() == 2) return reordered(flat(tensor, node), desc, node);
    from = flat(tensor, node);
    const std::size_t bytes = from.desc.get_size();
    from.desc = Desc(dims_of(desc), type_of(tensor.desc), Format::nchw);
    ensure(from.desc.get_size() == bytes, "a value keeps its size when its shape changes");
    if (from.desc == desc) return from;
  }
  const dnnl::reorder::primitive_desc pd(engine(), from.desc, engine(), desc, attributes());
  add_primitive(node, "reorder", dnnl::reorder(pd), pd.impl_info_str(),
                {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, pd.scratchpad_desc());
  return to;
}

Tensor PlanBuilder::flat(const Tensor& tensor, const Node& node) {
  const Dims dims = dims_of(tensor.desc);
  const Type type = type_of(tensor.desc);
  if (dims.size() == 2) return reordered(tensor, Desc(dims, type, Format::nc), node);
  Tensor plain = reordered(tensor, Desc(dims, type, Format::nchw), node);
  plain.desc = Desc({dims[0], dims[1] * dims[2] * dims[3]}, type, Format::nc);
  return plain;
}

Tensor PlanBuilder::blocked(const Tensor& tensor, const Node& node, ChannelBlocks& blocks) {
  if (channel_blocks(tensor.desc, blocks)) return tensor;
  const Dims dims = dims_of(tensor.desc);
  const Format format = dims.size() == 4 ? Format::nhwc : Format::nc;
  Tensor plain = reordered(tensor, Desc(dims, type_of(tensor.desc), format), node);
  ensure(channel_blocks(plain.desc, blocks), "a plain layout has blocks of channels");
  return plain;
}

Tensor PlanBuilder::blocked_by_channel(std::size_t from, const Node& node, ChannelBlocks& blocks) {
  const bool vector = graph_.node(from).shape.rank() == 1;
  return blocked(vector ? flat(value(from), node) : value(from), node, blocks);
}

}  // namespace convoke::nn
