#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/data/normalization.hpp"
#include "interop/keras/call.hpp"
#include "interop/keras/model_reader.hpp"
#include "interop/keras/network.hpp"

// Weights for a network whose layers may have other names.

namespace convoke::interop::keras {
namespace {

struct Numbered {
  std::string_view layer;  ///< ours
  int number;
};
// The names that Keras gives to layers without one. "conv2d_12": number 12; "conv2d": number 0.
std::optional<Numbered> numbered(std::string_view name) {
  if (const std::string_view layer = layer_of_kind(name); !layer.empty()) return Numbered{layer, 0};
  const std::size_t line = name.rfind('_');
  int number = 0;
  const char* const end = name.data() + name.size();
  if (line == name.npos || name.size() - line >= 8) return std::nullopt;
  if (std::from_chars(name.data() + line + 1, end, number).ptr != end) return std::nullopt;
  const std::string_view layer = layer_of_kind(name.substr(0, line));
  return layer.empty() ? std::nullopt : std::optional(Numbered{layer, number});
}

// True for the layer that normalizes pictures in Keras' EfficientNet by the mean and variance of ImageNet:
// its fixed numbers are in the zoo's first layers.
bool is_of_imagenet(const StoredLayer& layer) {
  constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F}, kDeviation{0.229F, 0.224F, 0.225F};
  if (layer.tensors.size() < 2 || layer.tensors.size() > 3) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (layer.tensors[i].shape.elements() != 3) return false;
    const std::vector<float> values = read_floats(layer.tensors[i]);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const float expected = i == 0 ? kMean.at(c) : kDeviation.at(c) * kDeviation.at(c);
      if (std::abs(values[c] - expected) > 1e-4F) return false;
    }
  }
  return true;
}

// The image (C, H, W) that `node` reads as a vector, if a flatten layer is before it.
Shape flattened_image(const nn::Graph& graph, const nn::Node& node) {
  const nn::Node* at = &graph.node(node.inputs[0]);
  while (at->layer != nullptr && at->inputs.size() == 1 && at->shape.rank() == 1) {
    const nn::Node& before = graph.node(at->inputs[0]);
    if (at->layer->type() == "flatten" && before.shape.rank() == 3) return before.shape;
    if (before.shape != at->shape) break;
    at = &before;
  }
  return {};
}

/// Keras Applications' names of nodes that have another one in the zoo: VGG's, which are torchvision's, and
/// the head of MobileNet.
std::map<std::string, std::string> names_of_applications(const nn::Graph& graph) {
  std::map<std::string, std::string> names{
      {"classifier.0", "fc1"}, {"classifier.3", "fc2"}, {"predictions", "conv_preds"}};
  int block = 1, convolution = 0;
  for (const nn::Node& node : graph.nodes()) {
    const std::string_view type = node.layer == nullptr ? "" : node.layer->type();
    if (type == "max_pool") {
      ++block;
      convolution = 0;
    } else if (type == "conv2d" && node.name.starts_with("features.")) {
      names[node.name] = fmt::format("block{}_conv{}", block, ++convolution);
    }
  }
  return names;
}

/// Matches stored layers with the nodes of a graph.
class Matcher {
 public:
  Matcher(const nn::Graph& graph, const std::vector<StoredLayer>& layers)
      : graph_(graph), layers_(layers), match_(graph), used_(layers.size(), false) {
    for (const nn::Node& node : graph.nodes()) {
      if (!node.parameters.empty() && node.parameters_of == node.index) open_.push_back(&node);
    }
  }

  run::InitialWeights result(const std::string& file) && {
    by_name();
    std::set<std::string_view> kinds;
    for (const StoredLayer& layer : layers_) {
      if (const std::optional<Numbered> name = numbered(layer.name)) kinds.insert(name->layer);
    }
    for (const std::string_view layer : kinds) by_order(layer);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!used_[i] && !is_of_imagenet(layers_[i])) match_.unused(layers_[i].name);
    }
    run::InitialWeights weights = std::move(match_).finish(file);
    if (is_vgg_of_keras()) {
      weights.normalization = data::normalization_from("keras-caffe", {.sample_shape = graph_.input_shape()});
    }
    return weights;
  }

 private:
  // Names that Keras, and Convoke, number count layers from different starts.
  void by_name() {
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!numbered(layers_[i].name)) index.emplace(layers_[i].name, i);
    }
    const std::map<std::string, std::string> others = names_of_applications(graph_);
    std::erase_if(open_, [&](const nn::Node* node) {
      auto found = index.find(node->name);
      const auto other = others.find(node->name);
      if (found == index.end() && other != others.end()) found = index.find(other->second);
      if (found == index.end()) return false;
      take(*node, found->second);
      return true;
    });
  }

  // The zoo's VGG stands for torchvision's, whose weights expect other pixels.
  bool is_vgg_of_keras() const {
    const Shape& input = graph_.input_shape();
    const auto first = [](const StoredLayer& layer) { return layer.name == "block1_conv1"; };
    return input.rank() == 3 && input[0] == 3 && std::any_of(layers_.begin(), layers_.end(), first);
  }

  // Only if all of a kind are there, because a missing one would shift the others.
  void by_order(std::string_view layer) {
    std::vector<std::pair<int, std::size_t>> stored;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const std::optional<Numbered> name = numbered(layers_[i].name);
      if (name && name->layer == layer) stored.emplace_back(name->number, i);
    }
    std::sort(stored.begin(), stored.end());
    std::vector<const nn::Node*> nodes;
    for (const nn::Node* node : open_) {
      if (node->layer->type() == layer) nodes.push_back(node);
    }
    if (stored.size() != nodes.size()) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) take(*nodes[i], stored[i].second);
  }

  void take(const nn::Node& node, std::size_t layer) {
    used_[layer] = true;
    const std::vector<Tensor>& tensors = layers_[layer].tensors;
    std::vector<Piece> pieces;
    try {
      pieces = match_tensors(node, tensors, flattened_image(graph_, node));
    } catch (const Error&) {  // another shape, as of a head for other classes: the result says so
    }
    for (std::size_t i = 0; i < match_.parameters().size(); ++i) {
      const std::string& name = match_.parameters()[i].name;
      if (!name.starts_with(node.name + ".") || name.find('.', node.name.size() + 1) != std::string::npos) {
        continue;
      }
      const auto piece = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& candidate) {
        return node.name + "." + candidate.parameter == name;
      });
      if (piece != pieces.end()) {
        piece->fill(match_.take(i));
      } else if (!tensors.empty()) {
        match_.misfit(i, tensors.front().shape);
      }
    }
  }

  const nn::Graph& graph_;
  const std::vector<StoredLayer>& layers_;
  run::WeightMatch match_;
  std::vector<bool> used_;
  std::vector<const nn::Node*> open_;
};

void list_layers(const Json& model, const WeightSource& weights, std::vector<Place>& path,
                 std::vector<StoredLayer>& list) {
  static constexpr std::array<std::string_view, 5> kParts{"", "cell", "forward_layer/cell",
                                                          "backward_layer/cell", "layer"};
  constexpr std::size_t kDeepest = 40;
  if (path.size() > kDeepest) throw Error("holds more models within models than are supported");
  const Network network = read_network(model);
  for (const LayerEntry& layer : network.layers) {
    path.push_back({.name = layer.name, .key = layer.key});
    if (is_model(*layer.whole)) {
      list_layers(*layer.whole, weights, path, list);
    } else if (!layer.is_operation && layer.class_name != "InputLayer") {
      std::vector<Tensor> tensors = weights(path, kParts);
      if (!tensors.empty()) list.push_back({.name = layer.name, .tensors = std::move(tensors)});
    }
    path.pop_back();
  }
}

}  // namespace

run::InitialWeights match_layers(const std::vector<StoredLayer>& layers, const nn::Graph& graph,
                                 const std::string& file) {
  return Matcher(graph, layers).result(file);
}

run::InitialWeights match_layers(const ModelSource& source, const nn::Graph& graph) {
  std::vector<StoredLayer> layers;
  std::vector<Place> path;
  list_layers(source.model, source.weights, path, layers);
  return match_layers(layers, graph, source.file);
}

}  // namespace convoke::interop::keras
