#include "nn/plan/plan_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/recomputation.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {

PlanBuilder::PlanBuilder(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options)
    : graph_(graph),
      layout_(layout),
      options_(options),
      fusions_(fuse(graph, options.post_ops)),
      inference_(inference_nodes(graph)),
      uses_(graph.nodes().size()),
      alias_(uses_.size()),
      values_(uses_.size()),
      gradients_(uses_.size()),
      needs_gradient_(uses_.size()) {
  std::iota(alias_.begin(), alias_.end(), std::size_t{0});
  for (const Node& node : graph_.nodes()) {
    ++uses_[node.parameters_of];
    const std::vector<ParameterSpec>& specs = graph_.owner(node).parameters;
    bool needed =
        std::any_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) { return !spec.frozen; });
    needed = needed || (node.layer == nullptr && options_.input_gradient);
    for (const std::size_t i : node.inputs) needed = needed || needs_gradient_[i];
    needs_gradient_[node.index] = needed;
  }
}

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

bool PlanBuilder::feeds_loss(const Node& node) const {
  const Node& last = graph_.nodes().back();
  const std::size_t value = fusion(node).output;
  if (value == last.index) return true;
  return last.layer->traits().joins_loss && last.inputs[0] == value;
}

Tensor PlanBuilder::allocate(const Desc& desc) { return {desc, allocate_bytes(desc.get_size())}; }

Ref PlanBuilder::allocate_bytes(std::size_t bytes) {
  plan_.buffer_bytes.push_back(bytes);
  return {Ref::Place::kActivation, plan_.buffer_bytes.size() - 1};
}

Ref PlanBuilder::scratch(std::size_t bytes) {
  if (bytes > kSharedScratchBytes) return allocate_bytes(bytes);
  plan_.scratchpad_bytes = std::max(plan_.scratchpad_bytes, bytes);
  return {Ref::Place::kScratch, 0};
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
  plan_.loss_reads_probabilities =
      !part_of_loss && !loss().activation().empty() && outputs_are_activated(graph_, loss());
}

void PlanBuilder::compile_forward() {
  const ValueSpec& sample = graph_.input_shape();
  plan_.input = allocate(plain_desc(sample, sample.type == ValueType::kToken ? Type::s32 : kFloat));
  set_value(0, plan_.input);
  const Node& last = graph_.nodes().back();
  for (const Node& node : graph_.nodes()) {
    if (node.layer == nullptr) continue;
    if (fusion(node).absorbed) {
      // The pooling applies this ReLU, so it reads the ReLU's input.
      if (!value(node.index)) set_alias(node.index, node.inputs[0]);
      continue;
    }
    if (node.index == activation_ && head_ != last.index) {
      plan_.logits = flat(value_as(head_, kFloat, node), node);
      if (training()) {
        plan_.output = plan_.logits;
        return;
      }
    }
    node.layer->compile(*this, node);
  }
  const Tensor value = value_as(last.index, kFloat, last);
  plan_.output =
      last.shape.rank() == 1 ? flat(value, last) : reordered(value, plain_desc(last.shape, kFloat), last);
  if (!plan_.logits) plan_.logits = plan_.output;
}

void PlanBuilder::compile_backward() {
  const Node& last = graph_.nodes().back();
  if (last.shape.rank() != 1) {
    throw Error(
        fmt::format("the network ends in {} with shape {}, but a classifier must end in a vector of classes",
                    last.name, last.shape.with_batch()),
        "end it with flatten or global_average_pool and a dense layer with one unit per class");
  }
  plan_.loss_gradient = allocate(plan_.logits.desc);
  if (plan_.loss_reads_probabilities) plan_.converted = allocate(plan_.logits.desc);
  add_gradient(head_, plan_.loss_gradient, last);
  in_backward_ = true;
  for (auto maker = backward_makers_.rbegin(); maker != backward_makers_.rend(); ++maker) (*maker)();
  if (options_.input_gradient) {
    const Tensor given = retyped(gradient(0), kFloat, graph_.node(0));
    plan_.input_gradient = reordered(given, plan_.input.desc, graph_.node(0));
  }
  if (options_.low_memory) checkpoint_gradients(plan_, offers_);
  recompute(plan_, std::move(offers_));
}

CompiledPlan PlanBuilder::compile() {
  assert(!training() || !options_.post_ops);
  refuse_dead_ends();
  find_head();
  plan_.loss = &loss();
  plan_.classes = options_.classes;
  compile_forward();
  if (training()) compile_backward();
  return std::move(plan_);
}

Tensor relu_gradient(PlanBuilder& plan, const Node& node, const Tensor& y, const Tensor& dy) {
  const Tensor masked = plan.in_place_of(dy);
  const std::size_t count = elements_of(dy.desc);
  plan.add_typed_kernel(
      dy.desc, node, "backward relu",
      [=]<class T>(const Frame& frame) {
        share_elements(count, [&](std::int64_t i, std::size_t n) {
          kernels<ElementwiseKernels<T>>().relu_backward(frame.at<T>(y) + i, frame.at<T>(dy) + i,
                                                         frame.at<T>(masked) + i, n);
        });
      },
      {y.ref, dy.ref, masked.ref}, masked);
  return masked;
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
    plan_.scratchpad_bytes = std::max(plan_.scratchpad_bytes, scratchpad.get_size());
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

void PlanBuilder::add_step(Step step) {
  if (!in_backward_) return plan_.forward.push_back(std::move(step));
  std::vector<Step> sums = complete_gradients(step);
  plan_.backward.push_back(std::move(step));
  for (Step& sum : sums) plan_.backward.push_back(std::move(sum));
}

std::vector<Step> PlanBuilder::complete_gradients(Step& step) {
  if (layout_ == nullptr) return {};
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
  return sums;
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
  offers_.push_back(std::move(step));
}

void PlanBuilder::exchange(Ref moments, std::size_t count) {
  (in_backward_ ? plan_.backward : plan_.forward).back().moments = {moments, count};
}

void PlanBuilder::changes(Ref memory) {
  (in_backward_ ? plan_.backward : plan_.forward).back().changes.push_back(memory);
}

}  // namespace convoke::nn
