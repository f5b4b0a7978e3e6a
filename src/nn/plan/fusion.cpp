#include "nn/plan/fusion.hpp"

#include <algorithm>

#include "convoke/nn/layers/border.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/separable_conv2d.hpp"
#include "nn/layers/conv2d_max_pool.hpp"

namespace convoke::nn {
namespace {

/// Layers whose last step can apply a ReLU as it writes.
bool applies_relu(std::string_view type) {
  return type == "conv1d" || type == "conv2d" || type == "depthwise_conv2d" || type == "separable_conv2d" ||
         type == "dense" || type == "add";
}

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph), fusions_(graph.nodes().size()), readers_(fusions_.size()) {
    for (const Node& node : graph.nodes()) {
      fusions_[node.index].output = node.index;
      for (const std::size_t input : node.inputs) readers_[input].push_back(node.index);
    }
  }

  std::vector<Fusion> run() {
    for (const Node& node : graph_.nodes()) {
      if (node.layer == nullptr || fusions_[node.index].absorbed) continue;
      const std::string_view type = node.layer->type();
      if (type == "zero_pad") {
        give_zero_pad(node);
        continue;
      }
      if (type == "conv2d" && take_conv2d_pool(node)) continue;
      if (applies_relu(type)) {
        const Node* relu = sole_reader(node.index, "relu");
        if (relu != nullptr && sole_reader(relu->index, "max_pool") == nullptr) take_relu(node.index, *relu);
      } else if (type == "batch_norm") {
        if (const Node* relu6 = sole_reader(node.index, "relu6")) {
          take_relu(node.index, *relu6);
          fusions_[node.index].relu6 = true;
        }
        for (const char* const curve : {"silu", "hard_swish"}) {
          if (const Node* reader = sole_reader(node.index, curve)) take_curve(node.index, *reader);
        }
        const Node* relu = sole_reader(node.index, "relu");
        if (relu == nullptr) continue;
        take_relu(node.index, *relu);
        const Node* pool = sole_reader(relu->index, "max_pool");
        // A frozen one keeps nothing of which pixel won.
        if (pool != nullptr && graph_.owner(node).options.trainable &&
            static_cast<const MaxPool&>(*pool->layer).tiles())
          take_max_pool(node.index, *pool);
      } else if (type == "relu") {
        // The value before this ReLU becomes the pooling's input; the pooling applies the ReLU.
        const Node* pool = sole_reader(node.index, "max_pool");
        if (pool == nullptr || readers_[node.inputs[0]].size() != 1) continue;
        fusions_[node.index].absorbed = true;
        fusions_[pool->index].relu = true;
      } else if (type == "max_pool" && !fusions_[node.index].relu) {
        if (const Node* relu = sole_reader(node.index, "relu")) take_relu(node.index, *relu);
      }
    }
    return std::move(fusions_);
  }

 private:
  const Node* sole_reader(std::size_t node, std::string_view type) const {
    if (readers_[node].size() != 1) return nullptr;
    const Node& reader = graph_.node(readers_[node].front());
    return reader.layer->type() == type ? &reader : nullptr;
  }

  void take_relu(std::size_t host, const Node& relu) {
    fusions_[host].relu = true;
    fusions_[host].output = relu.index;
    fusions_[relu.index].absorbed = true;
  }

  void take_curve(std::size_t host, const Node& curve) {
    fusions_[host].curve = &curve;
    fusions_[host].output = curve.index;
    fusions_[curve.index].absorbed = true;
  }

  void take_max_pool(std::size_t host, const Node& pool) {
    fusions_[host].max_pool = &pool;
    fusions_[host].output = pool.index;
    fusions_[pool.index].absorbed = true;
  }

  /// Padding is what a convolution does with zeroes; a maximum too if nothing is below them.
  void give_zero_pad(const Node& pad) {
    if (readers_[pad.index].size() != 1) return;
    const Node& reader = graph_.node(readers_[pad.index].front());
    const std::string_view type = reader.layer->type();
    const auto takes = [](const Padding& own) { return own.kind != Padding::Kind::kSame; };
    bool taken = false;
    if (type == "conv2d") {
      taken = takes(static_cast<const Conv2d&>(*reader.layer).options().padding);
    } else if (type == "depthwise_conv2d") {
      taken = takes(static_cast<const DepthwiseConv2d&>(*reader.layer).options().padding);
    } else if (type == "max_pool") {
      const LayerPtr& before = graph_.node(pad.inputs[0]).layer;
      const auto& pool = static_cast<const MaxPool&>(*reader.layer);
      const Border& border = static_cast<const ZeroPad&>(*pad.layer).padding();
      taken = before != nullptr && before->type() == "relu" && pool.options().padding == Padding::valid() &&
              !pool.options().ceil &&
              std::max(border.before.height, border.after.height) < pool.options().size.height &&
              std::max(border.before.width, border.after.width) < pool.options().size.width;
    }
    if (!taken) return;
    fusions_[reader.index].zero_pad = &pad;
    fusions_[pad.index].absorbed = true;
  }

  /// conv2d + max_pool with a ReLU between or after, or none.
  bool take_conv2d_pool(const Node& conv) {
    const Node* between = sole_reader(conv.index, "relu");
    const Node* pool = sole_reader(between == nullptr ? conv.index : between->index, "max_pool");
    if (pool == nullptr || !suits_conv2d_max_pool(graph_, conv, *pool)) return false;
    if (between != nullptr) take_relu(conv.index, *between);
    take_max_pool(conv.index, *pool);
    const Node* after = between == nullptr ? sole_reader(pool->index, "relu") : nullptr;
    if (after != nullptr) take_relu(conv.index, *after);
    return true;
  }

  const Graph& graph_;
  std::vector<Fusion> fusions_;
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace

std::vector<Fusion> fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace convoke::nn
