#include <algorithm>
#include <string>
#include <utility>

#include "convoke/core/error.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/parameter_descriptors.hpp"
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

bool PlanBuilder::trains(const Node& node) const {
  const std::vector<ParameterSpec>& specs = graph_.owner(node).parameters;
  return std::any_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) { return spec.trainable; });
}

std::size_t PlanBuilder::slot(const Node& node, std::string_view parameter) const {
  return layout_ == nullptr ? 0 : layout_->descriptors().find(node.parameters_of, parameter);
}

Desc PlanBuilder::arena_layout(const Node& node, std::string_view parameter) const {
  return layout_ == nullptr ? Desc() : layout_->descriptors().descs[slot(node, parameter)];
}

void PlanBuilder::prefer(const Node& node, std::string_view parameter, const Desc& desc) {
  plan_.preferred.emplace(std::pair(node.parameters_of, std::string(parameter)),
                          desc);  // the first use decides
}

Tensor PlanBuilder::parameter(const Node& node, std::string_view parameter) const {
  if (layout_ == nullptr)
    return {plan_.preferred.at({node.parameters_of, std::string(parameter)}), {Ref::Place::kParameter, 0}};
  return {arena_layout(node, parameter),
          {Ref::Place::kParameter, layout_->slots()[slot(node, parameter)].offset}};
}

Tensor PlanBuilder::gradient_of(const Node& node, std::string_view name) {
  Tensor tensor = parameter(node, name);
  tensor.ref.place = Ref::Place::kGradient;
  if (layout_ == nullptr) return tensor;
  const std::size_t place = slot(node, name);
  SharedGradient& shared = given_[place];
  if (shared.uses == 0 && !layout_->slots()[place].spec.frozen) return tensor;
  if (!shared.separate) shared.separate = allocate(tensor.desc);
  return shared.separate;
}

void PlanBuilder::write_gradient(const Node& node, std::string_view parameter, const Tensor& written) {
  const Tensor target = gradient_of(node, parameter);
  Tensor from = written;
  if (dims_of(from.desc) != dims_of(target.desc)) {
    from = flat(from, node);
    if (dims_of(target.desc).size() == 4) from.desc = Desc(dims_of(target.desc), kFloat, Format::nchw);
  }
  const dnnl::reorder::primitive_desc pd(engine(), from.desc, engine(), target.desc, attributes());
  add_primitive(node, "reorder", dnnl::reorder(pd), pd.impl_info_str(),
                {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, target}}, pd.scratchpad_desc(), 0,
                {slot(node, parameter)});
}

Tensor PlanBuilder::working(const Node& node, std::string_view name, const WeightForm& form) {
  const Tensor master = parameter(node, name);
  const bool reordering = form.kind == WeightForm::Kind::kReordered;
  if (reordering && master.desc == form.desc) return master;
  if (reordering && dims_of(master.desc) != dims_of(form.desc))
    return reordered(master, form.desc, node);  // for the dims see write_gradient
  if (layout_ == nullptr) {
    const std::pair key(node.parameters_of, std::string(name));
    const auto same = [&](const auto& copy) { return copy.first == key && copy.second == form; };
    if (std::none_of(plan_.wanted.begin(), plan_.wanted.end(), same)) plan_.wanted.emplace_back(key, form);
  } else if (options_.working_weights) {
    const auto copy = layout_->descriptors().find_working(slot(node, name), form);
    if (copy) return {form.desc, {Ref::Place::kWorking, *copy}};
  }
  if (reordering) return reordered(master, form.desc, node);
  const Tensor made = allocate(form.desc);
  add_kernel(
      node, "transform weights",
      [=](const Frame& frame) { form.transform(frame.at(master), frame.at(made)); }, {master.ref, made.ref},
      made);
  return made;
}

}  // namespace convoke::nn
