#pragma once
#include <string_view>
#include <vector>

#include "reference/model.hpp"

// Layers beyond the first ones are stated by their forward pass alone: naive loops in double over plain
// values. What they give backward is then found by central differences of that, element by element, so a
// reference cannot share a mistake with the derivative that it checks. Use small shapes: the cost is
// (elements of inputs and parameters) x (cost of a forward pass).

namespace reference {

/// A layer asked for its output.
struct Call {
  const Graph& graph;
  const Node& node;
  const Settings settings;  ///< of the layer
  std::int64_t lane;        ///< samples of a batch-norm group
  bool training;
  const StepKey& key;
  std::vector<Values> inputs;
  Parameters parameters;  ///< by name within the layer: "weight"

  const Values& x() const { return inputs.front(); }
  const std::vector<double>& parameter(const std::string& name) const { return parameters.at(name); }
  bool has_parameter(const std::string& name) const { return parameters.contains(name); }
  /// Settings of the layer, or `fallback`.
  double number(std::string_view setting, double fallback = 0) const;
  std::string text(std::string_view setting) const;
  /// One or two numbers: [height, width].
  std::pair<std::int64_t, std::int64_t> pair(std::string_view setting) const;
};

struct LayerEntry {
  std::string_view type;
  Values (*forward)(const Call& call);
};

/// Null if there is none of that type.
const LayerEntry* find_layer(std::string_view type);

}  // namespace reference
