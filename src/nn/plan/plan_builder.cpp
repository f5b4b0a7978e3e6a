#include "nn/plan/plan_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "convoke/core/error.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/parameter_descriptors.hpp"
#include "nn/plan/recomputation.hpp"

namespace convoke::nn {
namespace {

// All steps share one piece of scratch memory up to this size, which stays in the cache. Larger scratch
// memory is placed among the activations.
constexpr std::size_t kSharedScratchBytes = std::size_t{8} << 20;

}  // namespace

std::byte* Frame::address(Ref ref) const {
  switch (ref.place) {
    case Ref::Place::kActivation:
      return activations + offsets[ref.id];
    case Ref::Place::kScratch:
      return scratch;
    // Parameters are only read, but oneDNN's interface has no const memory.
    case Ref::Place::kParameter:
      return reinterpret_cast<std::byte*>(const_cast<float*>(parameters) + ref.id);
    case Ref::Place::kWorking:
      return const_cast<std::byte*>(working) + ref.id;
    default:
      return reinterpret_cast<std::byte*>(gradients + ref.id);
  }
}

PlanBuilder::PlanBuilder(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options)
    : graph_(graph),
      layout_(layout),
      options_(options),
      fusions_(fuse(graph, options.post_ops)),
      inference_(inference_nodes(graph)) {
  const std::size_t count = graph.nodes().size();
  values_.resize(count);
  gradients_.resize(count);
  for (std::size_t i = 0; i < count; ++i) alias_.push_back(i);
  uses_.assign(count, 0);
  for (const Node& node : graph.nodes()) ++uses_[node.parameters_of];
}

void PlanBuilder::find_gradient_needs() {
  needs_gradient_.assign(graph_.nodes().size(), false);
  for (const Node& node : graph_.nodes()) {
    const std::vector<ParameterSpec>& specs = graph_.owner(node).parameters;
    bool needed =
        std::any_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) { return !spec.frozen; });
    needed = needed || (node.layer == nullptr && options_.input_gradient);
    for (const std::size_t i : node.inputs) needed = needed || needs_gradient_[i];
    needs_gradient_[node.index] = needed;
  }
}

void PlanBuilder::refuse_dead_ends() const {
  std::vector<bool> read(graph_.nodes().size(), false);
  read.back() = true;
  for (const Node& node : graph_.nodes()) {
    for (const std::size_t from : node.inputs) read[from] = true;
  }
  const auto unread = std::find(read.begin(), read.end(), false);
  if (unread == read.end()) return;
  const Node& node = graph_.node(static_cast<std::size_t>(unread - read.begin()));
  throw Error(fmt::format("no layer reads the output of {}", node.name),
              "remove the layer, or name it in the inputs of another layer");
}

// The activation that belongs to the loss is part of it if only views of the same numbers follow, and if it
// is about all of them: a softmax over the channels of one pixel.
void PlanBuilder::find_head() {
  const Node& last = graph_.nodes().back();
  const Node* node = &last;
  while (node->layer != nullptr && node->layer->traits().is_view) node = &graph_.node(node->inputs[0]);
  const bool whole = node == &last || channels_of(node->shape) == node->shape.elements();
  const bool part_of_loss = node->layer != nullptr && last.shape.rank() == 1 && whole &&
                            node->layer->type() == loss().activation() &&
                            outputs_are_activated(graph_, loss());
  activation_ = part_of_loss ? node->index : last.index;
  head_ = part_of_loss ? node->inputs[0] : last.index;
  loss_reads_probabilities =
      !part_of_loss && !loss().activation().empty() && outputs_are_activated(graph_, loss());
}

bool PlanBuilder::feeds_loss(const Node& node) const {
  const Node& last = graph_.nodes().back();
  const std::size_t value = fusion(node).output;
  if (value == last.index) return true;
  return last.layer->traits().joins_loss && last.inputs[0] == value;
}

void PlanBuilder::compile() {
  assert(!training() || !options_.post_ops);
  refuse_dead_ends();
  find_gradient_needs();
  find_head();
  const ValueSpec& sample = graph_.input_shape();
  input = allocate(plain_desc(sample, sample.type == ValueType::kToken ? Type::s32 : kFloat));
  values_[0] = input;
  const Node& last = graph_.nodes().back();
  for (const Node& node : graph_.nodes()) {
    if (node.layer == nullptr) continue;
    if (fusions_[node.index].absorbed) {
      // The pooling applies this ReLU, so it reads the ReLU's input.
      if (!values_[node.index]) set_alias(node.index, node.inputs[0]);
      continue;
    }
    if (node.index == activation_ && head_ != last.index) {
      logits = flat(value_as(head_, kFloat, node), node);
      if (training()) {
        output = logits;
        break;
      }
    }
    node.layer->compile(*this, node);
  }
  if (!output) {
    const Tensor value = value_as(last.index, kFloat, last);
    output =
        last.shape.rank() == 1 ? flat(value, last) : reordered(value, plain_desc(last.shape, kFloat), last);
  }
  if (!logits) logits = output;
  if (!training()) return;

  if (last.shape.rank() != 1) {
    throw Error(
        fmt::format("the network ends in {} with shape {}, but a classifier must end in a vector of classes",
                    last.name, last.shape.with_batch()),
        "end it with flatten or global_average_pool and a dense layer with one unit per class");
  }
  in_backward_ = true;
  loss_gradient = allocate(logits.desc);
  if (loss_reads_probabilities) converted = allocate(logits.desc);
  add_gradient(head_, loss_gradient, last);
  for (auto maker = backward_makers_.rbegin(); maker != backward_makers_.rend(); ++maker) (*maker)();
  if (options_.input_gradient) {
    const Tensor gradient = retyped(this->gradient(0), kFloat, graph_.node(0));
    input_gradient = reordered(gradient, input.desc, graph_.node(0));
  }
  recompute(*this);
}

Tensor PlanBuilder::allocate(const Desc& desc) { return {desc, allocate_bytes(desc.get_size())}; }

Ref PlanBuilder::allocate_bytes(std::size_t bytes) {
  buffer_bytes.push_back(bytes);
  return {Ref::Place::kActivation, buffer_bytes.size() - 1};
}

Tensor PlanBuilder::overwrite(const Tensor& tensor) {
  for (const Type type : {kFloat, kBf16}) converted_.erase({tensor.ref, type});
  return tensor;
}

Ref PlanBuilder::scratch(std::size_t bytes) {
  if (bytes > kSharedScratchBytes) return allocate_bytes(bytes);
  scratchpad_bytes = std::max(scratchpad_bytes, bytes);
  return {Ref::Place::kScratch, 0};
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
  preferred.emplace(std::pair(node.parameters_of, std::string(parameter)), desc);  // the first use decides
}

Tensor PlanBuilder::parameter(const Node& node, std::string_view parameter) const {
  if (layout_ == nullptr)
    return {preferred.at({node.parameters_of, std::string(parameter)}), {Ref::Place::kParameter, 0}};
  return {arena_layout(node, parameter),
          {Ref::Place::kParameter, layout_->slots()[slot(node, parameter)].offset}};
}

Tensor PlanBuilder::gradient_of(const Node& node, std::string_view name) {
  Tensor tensor = parameter(node, name);
  tensor.ref.place = Ref::Place::kGradient;
  if (layout_ == nullptr) return tensor;
  const bool frozen = layout_->slots()[slot(node, name)].spec.frozen;
  SharedGradient& shared = given_[slot(node, name)];
  if (shared.uses == 0 && !frozen) return tensor;
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
    if (std::none_of(wanted.begin(), wanted.end(), same)) wanted.emplace_back(key, form);
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

void PlanBuilder::add_primitive(const Node& node, std::string what, const dnnl::primitive& primitive,
                                const std::string& implementation,
                                std::vector<std::pair<int, Tensor>> arguments, const Desc& scratchpad,
                                double flops, std::vector<std::size_t> completes) {
  Step step;
  step.info = {node.name, std::move(what), implementation, flops};
  step.primitive = primitive;
  step.output = arguments.back().second;
  if (scratchpad.get_size() > kSharedScratchBytes) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, allocate(scratchpad));
  } else {
    scratchpad_bytes = std::max(scratchpad_bytes, scratchpad.get_size());
    step.shares_scratch = true;
  }
  for (const auto& [name, tensor] : arguments) step.uses.push_back(tensor.ref);
  step.arguments = std::move(arguments);
  step.completes = std::move(completes);
  add_step(std::move(step));
}

void PlanBuilder::add_kernel(const Node& node, std::string what, std::function<void(const Frame&)> kernel,
                             std::vector<Ref> uses, Tensor out, double flops,
                             std::vector<std::size_t> completes, std::string implementation) {
  Step step;
  step.info = {node.name, std::move(what), std::move(implementation), flops};
  step.kernel = std::move(kernel);
  step.uses = std::move(uses);
  step.output = std::move(out);
  step.completes = std::move(completes);
  add_step(std::move(step));
}

// A use of a parameter that may not write to the arena writes to separate memory, which lives from the first
// step that may write it. When that gradient is complete, it is added to the arena. The last use completes
// the parameter.
void PlanBuilder::add_step(Step step) {
  if (!in_backward_) return forward.push_back(std::move(step));
  if (layout_ == nullptr) return backward.push_back(std::move(step));
  for (const auto& [slot, shared] : given_) {
    if (shared.separate) step.uses.push_back(shared.separate.ref);
  }
  std::vector<std::size_t> final;
  std::vector<Step> sums;
  for (const std::size_t slot : step.completes) {
    const ParameterSlot& place = layout_->slots()[slot];
    SharedGradient& shared = given_[slot];
    const Tensor separate = std::exchange(shared.separate, {});
    if (place.spec.frozen) continue;
    const bool last = ++shared.uses == uses_[place.node];
    if (!separate) {
      if (last) final.push_back(slot);
      continue;
    }
    Step sum;
    sum.info = {step.info.node, "sum of gradients of shared parameters", "convoke", 0};
    const Ref total{Ref::Place::kGradient, place.offset};
    const std::size_t count = elements_of(separate.desc);
    sum.kernel = [=](const Frame& frame) {
      kernels<ElementwiseKernels<float>>().add(frame.at(total), frame.at(separate), frame.at(total), count,
                                               false);
    };
    sum.uses = {separate.ref};
    if (last) sum.completes.push_back(slot);
    sums.push_back(std::move(sum));
  }
  step.completes = std::move(final);
  backward.push_back(std::move(step));
  for (Step& sum : sums) backward.push_back(std::move(sum));
}

void PlanBuilder::offer_recomputation(const Node& node, std::string what,
                                      std::function<void(const Frame&)> kernel, std::vector<Ref> uses,
                                      Tensor value) {
  if (!training()) return;
  Step step;
  step.info = {node.name, std::move(what), "convoke", 0};
  step.kernel = std::move(kernel);
  step.uses = std::move(uses);
  step.output = std::move(value);
  recomputations.push_back(std::move(step));
}

void PlanBuilder::exchange(Ref moments, std::size_t count) {
  (in_backward_ ? backward : forward).back().moments = {moments, count};
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
  with_stored_type(desc, [&](auto zero) {
    using T = decltype(zero);
    add_kernel(
        from, "sum of gradients",
        [=](const Frame& frame) {
          kernels<ElementwiseKernels<T>>().add(frame.at<T>(a), frame.at<T>(b), frame.at<T>(sum), count,
                                               false);
        },
        {a.ref, b.ref, sum.ref}, sum);
  });
  sum.exclusive = true;
  total = sum;
}

Tensor relu_gradient(PlanBuilder& plan, const Node& node, const Tensor& y, const Tensor& dy) {
  const Tensor masked = plan.in_place_of(dy);
  const std::size_t count = elements_of(dy.desc);
  with_stored_type(dy.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "backward relu",
        [=](const Frame& frame) {
          kernels<ElementwiseKernels<T>>().relu_backward(frame.at<T>(y), frame.at<T>(dy), frame.at<T>(masked),
                                                         count);
        },
        {y.ref, dy.ref, masked.ref}, masked);
  });
  return masked;
}

}  // namespace convoke::nn
