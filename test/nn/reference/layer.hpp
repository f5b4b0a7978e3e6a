#pragma once
#include <string_view>
#include <vector>

#include "reference/model.hpp"

// Most layers of the reference have only a forward pass: naive loops in double over plain values. Their
// gradients are central differences of that pass, element by element, so a reference cannot share a mistake
// with the derivative that it checks. Use small shapes: the cost is (elements of inputs and parameters) x
// (cost of a forward pass).

namespace reference {

/// The arguments of a layer's forward pass.
struct Call {
  const Graph& graph;
  const Node& node;
  const Settings settings;   ///< settings of the layer
  std::int64_t micro_batch;  ///< samples of a batch-norm group
  bool training;
  const StepKey& key;
  std::vector<Values> inputs;
  Parameters parameters;  ///< by name within the layer: "weight"

  const Values& x() const { return inputs.front(); }
  const std::vector<double>& parameter(const std::string& name) const { return parameters.at(name); }
  bool has_parameter(const std::string& name) const { return parameters.contains(name); }
  /// Returns a setting of the layer, or `fallback`.
  double number(std::string_view setting, double fallback = 0) const;
  std::string text(std::string_view setting) const;
  /// Returns one or two numbers as [height, width].
  std::pair<std::int64_t, std::int64_t> pair(std::string_view setting) const;
};

struct LayerEntry {
  std::string_view type;
  Values (*forward)(const Call& call);
};

/// Returns null if there is no layer of that type.
const LayerEntry* find_layer(std::string_view type);

}  // namespace reference
