#include <algorithm>

#include "convoke/core/error.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

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

Tensor PlanBuilder::overwrite(const Tensor& tensor) {
  for (const Type type : {kFloat, kBf16}) converted_.erase({tensor.ref, type});
  return tensor;
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

Tensor PlanBuilder::retyped(const Tensor& tensor, Type type, const Node& node) {
  if (type_of(tensor.desc) == type) return tensor;
  ChannelBlocks blocks;
  const Dims dims = dims_of(tensor.desc);
  if (channel_blocks(tensor.desc, blocks)) return reordered(tensor, with_layout_of(blocks, dims, type), node);
  return reordered(tensor, Desc(dims, type, dims.size() == 4 ? Format::nhwc : Format::nc), node);
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

Tensor PlanBuilder::gradient_like_value(std::size_t node, const Node& reader) {
  const Tensor gradient = gradients_[alias_[node]];
  return gradient ? reordered(gradient, values_[alias_[node]].desc, reader) : gradient;
}

void PlanBuilder::add_gradient(std::size_t node, const Tensor& tensor, const Node& from) {
  if (!needs_gradient(node)) return;
  Tensor& total = gradients_[alias_[node]];
  if (!total) {
    total = tensor;
    return;
  }
  const Desc desc = values_[alias_[node]].desc;
  const Tensor a = reordered(total, desc, from);
  const Tensor b = reordered(tensor, desc, from);
  Tensor sum = a.exclusive ? a : b.exclusive ? b : allocate(desc);
  const std::size_t count = elements_of(desc);
  add_typed_kernel(
      desc, from, "sum of gradients",
      [=]<class T>(const Frame& frame) {
        kernels<ElementwiseKernels<T>>().add(frame.at<T>(a), frame.at<T>(b), frame.at<T>(sum), count, false);
      },
      {a.ref, b.ref, sum.ref}, sum);
  sum.exclusive = true;
  total = sum;
}

}  // namespace convoke::nn
