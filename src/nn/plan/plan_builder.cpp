#include "nn/plan/plan_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "convoke/core/error.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/recomputation.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {

PlanBuilder::PlanBuilder(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options)
    : PlanParameters(graph, layout, options) {}

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
  make_backward();
  if (options_.input_gradient) {
    const Tensor given = retyped(gradient(0), kFloat, graph_.node(0));
    plan_.input_gradient = reordered(given, plan_.input.desc, graph_.node(0));
  }
  std::vector<Step> offers = take_offers();
  if (options_.low_memory) checkpoint_gradients(plan_, offers);
  recompute(plan_, std::move(offers));
}

CompiledPlan PlanBuilder::compile() {
  assert(!training() || !options_.post_ops);
  refuse_dead_ends();
  find_head();
  plan_.loss = &loss();
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

}  // namespace convoke::nn
