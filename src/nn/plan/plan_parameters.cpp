#include <algorithm>
#include <string>
#include <utility>

#include "nn/plan/parameter_descriptors.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

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
