#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/interop/model_io.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::interop {

/// Returns the settings of the layer reshape to the shape `to`.
Settings reshape_to(const Shape& to);
/// Returns the settings of the layer permute: axis i of its output is axis dims[i], counted from 1.
Settings permute_by(const std::vector<std::int64_t>& dims);
/// The numbers of a normalization (x - mean) / sqrt(variance), one for each channel.
struct Statistics {
  std::vector<double> mean, variance;
};
/// Returns those by which it gives scale x + shift, with scales above 0.
Statistics statistics_of(const std::vector<double>& scale, const std::vector<double>& shift);
/// Returns the settings of the layer standardize.
Settings standardize_by(const Statistics& statistics);

/// Returns the indices start, start + step, ... before `end` along an axis of this extent, as NumPy's
/// x[start:end:step]: numbers below 0 count from the end, and those beyond an end stand for it. `step` != 0.
std::vector<std::int64_t> slice_indices(std::int64_t extent, std::int64_t start, std::int64_t end,
                                        std::int64_t step);

/// Returns (first index, number) of each run of neighbors.
std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const std::vector<std::int64_t>& indices);

/// Collects the graph of a foreign model, and for each parameter how its values are read. finish() reads all
/// of them straight to their places.
class ModelBuilder {
 public:
  /// Writes the values of one parameter, in canonical layout (nn::ParameterSpec), into `values`.
  using Fill = std::function<void(std::span<float> values)>;

  explicit ModelBuilder(nn::ValueSpec input) : graph_(std::move(input)) {}

  const nn::Graph& graph() const { return graph_; }

  /// Adds a node with a layer { layer = "conv2d", filters = 32, ... }; see nn::Graph::add. `name` is made
  /// unique, and slashes become dots; empty: numbered by its kind. Returns its index.
  std::size_t add(const Settings& layer, std::vector<std::size_t> inputs, std::string_view name = {});
  /// Applies the layer of node `of` again, with the same parameters.
  std::size_t share(std::size_t of, std::vector<std::size_t> inputs, std::string_view name = {});
  /// Freezes a node, as `trainable = false`.
  void freeze(std::size_t node);
  /// Adds the penalty l1 sum |w| + l2 sum w^2 on the weights of a node.
  void penalize(std::size_t node, double l1, double l2);

  /// Says how the parameter `parameter` of `node` is read.
  void give(std::size_t node, std::string_view parameter, Fill fill);
  /// Copies `values` now. Throws Error if their number does not fit.
  void give(std::size_t node, std::string_view parameter, std::vector<float> values);

  /// Adds a sentence about the import, once.
  void note(const std::string& sentence);

  /// Returns the model, without nodes that the last one does not need. Throws Error naming a parameter
  /// without values. `after_each`: called after the values of each parameter were read.
  Imported finish(const std::function<void()>& after_each = {}) &&;

 private:
  static constexpr std::size_t kMostLayers = 10000;

  std::string unique(std::string_view name);
  /// Keeps the name of a new node. Returns the node.
  std::size_t added(std::size_t node);
  void prune();

  nn::Graph graph_;
  std::map<std::pair<std::size_t, std::string>, Fill> fills_;
  std::vector<std::string> notes_;
  std::map<std::string, int> numbers_;  ///< of each name that is taken, the number to try next
};

}  // namespace convoke::interop
