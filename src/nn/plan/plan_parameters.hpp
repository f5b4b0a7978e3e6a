#pragma once
#include <string_view>

#include "nn/plan/plan_values.hpp"

namespace convoke::nn {

/// The part of the PlanBuilder that gives the parameters of a node: its own, or those of the node whose layer
/// it shares.
class PlanParameters : public PlanValues {
 public:
  using PlanValues::PlanValues;

  /// True if any of them is trained. Otherwise their gradients need not be computed; gradient_of then returns
  /// other memory for layers that compute them nevertheless.
  bool trains(const Node& node) const;
  /// Returns a parameter's layout in the arena; empty in a dry run.
  Desc arena_layout(const Node& node, std::string_view parameter) const;
  /// In a dry run, records the layout that the primitive prefers.
  void prefer(const Node& node, std::string_view parameter, const Desc& desc);
  Tensor parameter(const Node& node, std::string_view parameter) const;
  /// Returns the memory to which a backward step writes the whole gradient of a parameter. The first use of
  /// shared parameters writes to the arena. Later uses write to separate memory, which is added when their
  /// part is complete.
  Tensor gradient_of(const Node& node, std::string_view parameter);
  /// Adds a reorder of a gradient in another layout, or with other dims (a dense layer on both a flattened
  /// image and a vector), to its place, and completes it.
  void write_gradient(const Node& node, std::string_view parameter, const Tensor& written);
  /// Returns a parameter in the form that a primitive needs: the parameter itself if it has that form;
  /// otherwise the copy that is made once per update (working_weights.hpp); without such copies, the result
  /// of a step of the plan.
  Tensor working(const Node& node, std::string_view parameter, const WeightForm& form);
  std::size_t slot(const Node& node, std::string_view parameter) const;
};

}  // namespace convoke::nn
