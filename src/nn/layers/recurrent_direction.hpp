#pragma once
#include <memory>

#include "convoke/nn/layers/sequences.hpp"
#include "nn/layers/recurrent_input.hpp"
#include "nn/layers/recurrent_product.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// The options of one direction of a recurrent layer. Memory is time-major: (L, N, ...).
struct DirectionSpec {
  bool gru = false;
  bool reverse = false;      ///< from the last time step to the first
  std::uint32_t number = 0;  ///< 0, or 1 for the second direction
  std::int64_t directions = 1;
  std::string prefix;  ///< prefix of its parameters
  RecurrentOptions options;
  SequenceExtents in{};  ///< extents of x
  Tensor x;              ///< (L, N, F)
  Tensor tokens;         ///< (N, L) that mask time steps, or empty
  Tensor embedded;       ///< (N, L) in [0, vocabulary): x has equal rows for equal ones; or empty
  std::int64_t vocabulary = 0;
  Tensor y;  ///< (L, N, directions U), or (N, directions U); this direction writes its own columns
};

/// One direction of a recurrent layer. RecurrentInput computes the input's part of all time steps. A loop
/// over them then adds the state's part and applies the cell; backward runs in the opposite order. (oneDNN's
/// RNN primitives work in the same way. Our own loop can also mask and drop, and stores weights as dense
/// layers do.) No product is computed for a time step that all samples mask.
class Direction {
 public:
  /// Adds the forward steps.
  Direction(PlanBuilder& plan, const Node& node, DirectionSpec spec);
  /// Adds the backward steps; dy in the layout of y.
  void backward(PlanBuilder& plan, const Node& node, const Tensor& dy);

 private:
  struct Loop;

  std::shared_ptr<Loop> loop_;  ///< shared by the kernels of the plan
  RecurrentProduct state_;
};

}  // namespace convoke::nn
