#include "convoke/train/grad_cam.hpp"

#include <algorithm>

#include "convoke/nn/backend.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/split.hpp"

namespace convoke::train {
namespace {

bool is_image(const nn::Node& node) { return node.shape.rank() == 3 && node.shape[1] * node.shape[2] > 1; }

/// True if the node's weights slide over the two axes of an image.
bool convolves(const nn::Graph& graph, const nn::Node& node) {
  const std::vector<nn::ParameterSpec>& specs = graph.owner(node).parameters;
  return is_image(node) && node.shape[1] > 1 && node.shape[2] > 1 &&
         std::ranges::any_of(specs, [](const nn::ParameterSpec& spec) { return spec.shape.rank() >= 4; });
}

// The nodes after `last`, frozen, so that a plan runs them as in prediction and computes no gradients of
// parameters.
nn::Graph frozen_head(const nn::Graph& graph, std::size_t last) {
  nn::Graph head = nn::suffix_of(graph, last);
  for (const nn::Node& node : head.nodes()) {
    if (node.parameters.empty()) continue;
    nn::ParameterOptions options = node.options;
    options.trainable = false;
    head.set_options(node.index, options);
  }
  return head;
}

bool draws_random(const nn::Graph& head) {
  const std::vector<bool> inference = nn::inference_nodes(head);
  return std::ranges::any_of(head.nodes(), [&](const nn::Node& node) {
    return node.layer != nullptr && node.layer->traits().draws_random && !inference[node.index];
  });
}

bool scores_classes(const run::ModelDescription& model) {
  const Shape& outputs = model.graph.output_shape();
  if (outputs.rank() != 1) return false;
  if (outputs[0] == 1) return model.classes() == 2 && model.loss->activation() == "sigmoid";
  return outputs[0] == model.classes();
}

nn::PlanOptions plan_options(const nn::Loss& loss) {
  nn::single_threaded();
  return {.micro_batch = 1, .input_gradient = true, .loss = &loss};
}

}  // namespace

std::optional<std::size_t> GradCam::node_of(const run::ModelDescription& model) {
  const nn::Graph& graph = model.graph;
  if (!scores_classes(model)) return std::nullopt;
  std::size_t convolution = graph.nodes().size();
  for (const nn::Node& node : graph.nodes()) {
    if (node.layer != nullptr && convolves(graph, node)) convolution = node.index;
  }
  for (std::size_t i = graph.nodes().size() - 1; i-- > convolution;) {
    const nn::Node& node = graph.node(i);
    const nn::ValueSpec& like = graph.node(convolution).shape;
    if (!is_image(node) || node.shape[1] != like[1] || node.shape[2] != like[2]) continue;
    if (nn::separates(graph, i) && !draws_random(frozen_head(graph, i))) return i;
  }
  return std::nullopt;
}

GradCam::GradCam(const run::ModelDescription& model) : GradCam(model, node_of(model).value()) {}

GradCam::GradCam(const run::ModelDescription& model, std::size_t node)
    : loss_(model.loss),
      head_(frozen_head(model.graph, node)),
      shape_(head_.input_shape()),
      backbone_(nn::prefix_of(model.graph, node), {.chunk = 1, .loss = model.loss}),
      parameters_(engine::canonical_parameters(head_)),
      layout_(std::make_shared<nn::ParameterLayout>(head_, 1)),
      arena_(std::max<std::size_t>(layout_->size(), 1)),
      gradients_(std::max<std::size_t>(layout_->gradient_size(), 1)),
      plan_(head_, layout_, plan_options(*loss_)) {
  plan_.bind(arena_.data(), gradients_.data());
}

// Canonical values are stored node by node, so those of the backbone come first.
void GradCam::load(std::span<const float> parameters) {
  const std::size_t first = backbone_.parameter_values();
  backbone_.load(parameters.first(first));
  engine::pack(parameters_, *layout_, parameters.subspan(first), arena_.span());
}

std::vector<ActivationMap> GradCam::maps(const data::BatchLoader& loader, std::uint32_t sample,
                                         std::span<const std::int64_t> classes) {
  const std::vector<float> activations = backbone_.raw(loader, {&sample, 1});
  std::vector<ActivationMap> maps;
  for (const std::int64_t of_class : classes) maps.push_back(map_of(activations, of_class));
  return maps;
}

ActivationMap GradCam::map_of(std::span<const float> activations, std::int64_t of_class) {
  std::ranges::copy(activations, plan_.input().begin());
  const std::uint32_t id = 0;
  plan_.forward({.samples = {&id, 1}});
  std::vector<float> score(plan_.output().size());
  if (score.size() == 1) {  // the output speaks for class 1
    score[0] = of_class == 1 ? 1.0F : -1.0F;
  } else {
    score[static_cast<std::size_t>(of_class)] = 1;
  }
  plan_.start_backward(score);
  plan_.backward([](std::size_t) {});

  const std::span<const float> gradient = plan_.input_gradient();
  const auto places = static_cast<std::size_t>(shape_[1] * shape_[2]);
  std::vector<double> sums(places);
  for (std::size_t k = 0; k < static_cast<std::size_t>(shape_[0]); ++k) {
    double weight = 0;
    for (const float g : gradient.subspan(k * places, places)) weight += static_cast<double>(g);
    weight /= static_cast<double>(places);
    for (std::size_t i = 0; i < places; ++i)
      sums[i] += weight * static_cast<double>(activations[k * places + i]);
  }
  ActivationMap map{shape_[1], shape_[2], std::vector<float>(places)};
  std::ranges::transform(sums, map.values.begin(),
                         [](double sum) { return static_cast<float>(std::max(0.0, sum)); });
  return map;
}

}  // namespace convoke::train
