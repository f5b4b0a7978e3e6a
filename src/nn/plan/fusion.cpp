#include "nn/plan/fusion.hpp"

#include <algorithm>

namespace convoke::nn {
namespace {

class Fuser {
 public:
  Fuser(const Graph& graph, bool post_ops)
      : graph_(graph), post_ops_(post_ops), fusions_(graph.nodes().size()), readers_(fusions_.size()) {
    for (const Node& node : graph.nodes()) {
      fusions_[node.index].output = node.index;
      for (const std::size_t input : node.inputs) readers_[input].push_back(node.index);
    }
  }

  std::vector<Fusion> run() {
    for (const Node& node : graph_.nodes()) {
      if (node.layer == nullptr || fusions_[node.index].absorbed) continue;
      const LayerTraits traits = node.layer->traits();
      if (traits.zero_border) {
        give_zero_border(node, *traits.zero_border);
      } else if (traits.activation == FusibleActivation::kRelu) {
        give_relu(node);
      } else if (!traits.pools_image || !take_image_pool(node)) {
        take_activation(node, traits);
      }
    }
    return std::move(fusions_);
  }

 private:
  const Node* sole_reader(std::size_t node) const {
    return readers_[node].size() == 1 ? &graph_.node(readers_[node].front()) : nullptr;
  }
  const Node* sole_reader(std::size_t node, FusibleActivation activation) const {
    const Node* reader = sole_reader(node);
    return reader != nullptr && reader->layer->traits().activation == activation ? reader : nullptr;
  }
  const Node* sole_max_pool(std::size_t node) const {
    const Node* reader = sole_reader(node);
    return reader != nullptr && reader->layer->traits().max_windows ? reader : nullptr;
  }

  void take_activation(const Node& node, const LayerTraits& traits) {
    const bool post_ops = post_ops_ && traits.applies_post_ops;
    if (traits.applies_curves || post_ops) {
      for (const auto curve : {FusibleActivation::kSilu, FusibleActivation::kHardSwish}) {
        if (const Node* reader = sole_reader(node.index, curve)) return take_curve(node.index, *reader);
      }
      if (const Node* relu6 = sole_reader(node.index, FusibleActivation::kRelu6)) {
        fusions_[node.index].relu6 = true;
        return take_relu(node.index, *relu6);
      }
    }
    if (!traits.applies_relu || fusions_[node.index].relu) return;
    const Node* relu = sole_reader(node.index, FusibleActivation::kRelu);
    if (relu == nullptr && post_ops) return take_sum(node);
    if (relu == nullptr) return;
    const Node* pool = sole_max_pool(relu->index);
    // A pooling after the ReLU applies it to fewer values.
    if (pool != nullptr && !traits.pools_behind_relu && !traits.max_windows) return;
    take_relu(node.index, *relu);
    // A frozen batch norm does not store which pixel won.
    if (pool != nullptr && traits.pools_behind_relu && graph_.owner(node).options.trainable &&
        pool->layer->traits().max_windows->tile)
      take_max_pool(node.index, *pool);
  }

  /// Lets the pooling apply this ReLU. The pooling then reads the ReLU's input.
  void give_relu(const Node& relu) {
    const Node* pool = sole_max_pool(relu.index);
    if (pool == nullptr || readers_[relu.inputs[0]].size() != 1) return;
    fusions_[relu.index].absorbed = true;
    fusions_[pool->index].relu = true;
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

  /// Lets a convolution add its result to the other input of the sum that reads it, and apply the ReLU after
  /// the sum.
  void take_sum(const Node& node) {
    const Node* sum = sole_reader(node.index);
    if (sum == nullptr || !sum->layer->traits().adds_inputs || sum->inputs.size() != 2) return;
    const std::size_t other = sum->inputs[sum->inputs[0] == node.index ? 1 : 0];
    if (other >= node.index || !is_overwritable(other, node, *sum)) return;
    fusions_[node.index].sum = sum;
    fusions_[node.index].output = sum->index;
    fusions_[sum->index].absorbed = true;
    if (const Node* relu = sole_reader(sum->index, FusibleActivation::kRelu)) take_relu(node.index, *relu);
  }

  /// True if only `sum` reads this value or its memory after `node` has run.
  bool is_overwritable(std::size_t value, const Node& node, const Node& sum) const {
    const auto passes_on = [](const Node& n) {  // its output can be the memory of its input
      const LayerTraits traits = n.layer->traits();
      return traits.is_view || traits.draws_random || traits.zero_border;
    };
    if (value == 0 || passes_on(graph_.node(value))) return false;
    return std::all_of(readers_[value].begin(), readers_[value].end(), [&](std::size_t reader) {
      return reader == sum.index || (reader < node.index && !passes_on(graph_.node(reader)));
    });
  }

  void take_max_pool(std::size_t host, const Node& pool) {
    fusions_[host].max_pool = &pool;
    fusions_[host].output = pool.index;
    fusions_[pool.index].absorbed = true;
  }

  /// Lets the reader of this border include it: a convolution pads with these zeroes, and so does a max
  /// pooling if all values are at least 0.
  void give_zero_border(const Node& pad, const Border& border) {
    const Node* reader = sole_reader(pad.index);
    if (reader == nullptr) return;
    const LayerTraits traits = reader->layer->traits();
    bool taken = traits.takes_zero_border;
    if (traits.max_windows) {
      const LayerPtr& before = graph_.node(pad.inputs[0]).layer;
      const Extent size = traits.max_windows->size;
      taken = before != nullptr && before->traits().activation == FusibleActivation::kRelu &&
              traits.max_windows->inside &&
              std::max(border.before.height, border.after.height) < size.height &&
              std::max(border.before.width, border.after.width) < size.width;
    }
    if (!taken) return;
    fusions_[reader->index].zero_pad = &pad;
    fusions_[pad.index].absorbed = true;
  }

  /// True if one kernel can do both. It needs its own layout of the weights, so no other node may share them.
  bool suits_image_pool(const Node& conv, const Node& pool) const {
    const LayerTraits::MaxWindows windows = *pool.layer->traits().max_windows;
    return conv.inputs[0] == 0 && graph_.node(0).shape[0] <= 4 && !graph_.shares(conv) && windows.tile &&
           windows.size == Extent(2);
  }

  /// Fuses conv2d + max_pool, with a ReLU between them, after them, or none.
  bool take_image_pool(const Node& conv) {
    const Node* between = sole_reader(conv.index, FusibleActivation::kRelu);
    const Node* pool = sole_max_pool(between == nullptr ? conv.index : between->index);
    if (pool == nullptr || !suits_image_pool(conv, *pool)) return false;
    if (between != nullptr) take_relu(conv.index, *between);
    take_max_pool(conv.index, *pool);
    const Node* after = between == nullptr ? sole_reader(pool->index, FusibleActivation::kRelu) : nullptr;
    if (after != nullptr) take_relu(conv.index, *after);
    return true;
  }

  const Graph& graph_;
  bool post_ops_;
  std::vector<Fusion> fusions_;
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace

std::vector<Fusion> fuse(const Graph& graph, bool post_ops) { return Fuser(graph, post_ops).run(); }

}  // namespace convoke::nn
