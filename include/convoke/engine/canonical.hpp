#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/engine/state_array.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

/// One parameter in canonical form (OIHW, OI, C), as in files and messages.
struct CanonicalParameter {
  std::string name;  ///< "conv2d_1.weight"
  Shape shape;
  std::size_t offset = 0;  ///< in floats, in a list of all canonical values
  bool trainable = true;

  std::size_t size() const { return static_cast<std::size_t>(shape.elements()); }
};

/// Returns the parameters of `graph`, node by node. A list of their values holds them in this order, without
/// padding, and depends on the graph alone, not on plan layouts or the instruction set.
std::vector<CanonicalParameter> canonical_parameters(const nn::Graph& graph);

/// Returns the number of values of such a list.
std::size_t canonical_values(std::span<const CanonicalParameter> parameters);

/// Converts an arena in the layout of a plan to canonical values. `arena` has layout.size() floats.
std::vector<float> unpack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
                          std::span<const float> arena);
/// Does the same with an array of layout.size() or fewer elements, for example layout.trainable_size() of an
/// optimizer's state. Parameters beyond its end are 0 in the result.
std::vector<float> unpack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
                          const StateArray& state);

/// Converts canonical values to an arena of layout.size() floats, or to such an array, up to its end and
/// rounded to its precision. Throws Error if the sizes do not fit.
void pack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
          std::span<const float> canonical, std::span<float> arena);
void pack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
          std::span<const float> canonical, const StateArray& state);

}  // namespace convoke::engine
