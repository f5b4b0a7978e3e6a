#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// A trained network as it predicts. It leaves out layers that only training needs (dropout, noise), and
/// folds a batch norm into the weights w and the bias b of the layer before it:
///   s = gamma / sqrt(running_variance + epsilon),  w' = s w,  b' = s (b - running_mean) + beta
/// That layer must be linear in its weights (LayerTraits::linear_weight), and no other node may read its
/// output or share its parameters. The outputs differ from those of the trained network by rounding.
class InferenceGraph {
 public:
  explicit InferenceGraph(const Graph& trained);

  /// The nodes keep their names.
  const Graph& graph() const { return graph_; }

  /// Returns the parameters of graph() from those of the trained network. Both are lists of canonical values,
  /// node by node. Throws Error if `trained` has another size.
  std::vector<float> parameters(std::span<const float> trained) const;

 private:
  /// The place of a parameter in the list of the trained network.
  struct Place {
    std::size_t offset = 0, size = 0;
  };
  struct Norm {
    double epsilon = 0;
    std::optional<Place> gamma, beta;  ///< empty: 1 and 0
    Place mean, variance;
  };
  /// A parameter of graph().
  struct Parameter {
    enum class Role { kCopied, kWeight, kBias };  ///< the last two: multiplied by the scales of `norm`
    std::size_t size = 0;
    std::optional<Place> from;  ///< empty: a bias that only the norm adds
    Role role = Role::kCopied;
    Norm norm;
  };
  void add_parameters(const Graph& trained, const Node& node, const Node* norm,
                      const std::vector<std::size_t>& offsets);

  Graph graph_;
  std::vector<Parameter> parameters_;
  std::size_t trained_size_ = 0;
};

}  // namespace convoke::nn
