#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

/// One parameter in canonical form (OIHW, OI, C), as files and messages carry it.
struct CanonicalParameter {
  std::string name;  ///< "conv2d_1.weight"
  Shape shape;
  std::size_t offset = 0;  ///< in floats, in a list of all canonical values
  bool trainable = true;

  std::size_t size() const { return static_cast<std::size_t>(shape.elements()); }
};

/// The parameters of `graph`, node by node. Their values stand one after the other in this order, without
/// padding: a list that depends on nothing but the graph, neither on plan layouts nor on the instruction set.
std::vector<CanonicalParameter> canonical_parameters(const nn::Graph& graph);

/// Number of values of such a list.
std::size_t canonical_values(std::span<const CanonicalParameter> parameters);

/// Arena in the layout of a plan -> canonical values. `arena` has layout.size() floats, or
/// layout.trainable_size() of them (optimizer state); parameters beyond its end stay 0 in the result.
std::vector<float> unpack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
                          std::span<const float> arena);

/// The inverse: canonical values -> arena, as far as it reaches. Throws Error if the sizes do not fit.
void pack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
          std::span<const float> canonical, std::span<float> arena);

}  // namespace convoke::engine
