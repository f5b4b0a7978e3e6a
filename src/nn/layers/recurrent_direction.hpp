#pragma once
#include <memory>

#include "convoke/nn/layers/recurrent.hpp"
#include "nn/layers/recurrent_product.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/time_major.hpp"

namespace convoke::nn {

/// The options of one direction of a recurrent layer. Memory is time-major: (L, N, ...).
struct DirectionSpec {
  bool gru = false;
  bool reverse = false;      ///< from the last place to the first
  std::uint32_t number = 0;  ///< 0, or 1 for the second direction
  std::int64_t directions = 1;
  std::string prefix;  ///< of its parameters
  RecurrentOptions options;
  SequenceExtents in{};  ///< of x
  Tensor x;              ///< (L, N, F)
  Tensor tokens;         ///< (N, L), or empty
  Tensor y;              ///< (L, N, directions U), or (N, directions U): this one's columns are written
};

/// One direction of a recurrent layer: the input's part of all places is one product; a loop over the places
/// then adds the state's part and applies the cell; backward the other way about. (This is what oneDNN's RNN
/// primitives do too; with the loop here, it can mask and drop, and weights lie as those of dense layers.)
class Direction {
 public:
  /// Adds the forward steps.
  Direction(PlanBuilder& plan, const Node& node, DirectionSpec spec);
  /// Adds the backward steps; dy in the layout of y.
  void backward(PlanBuilder& plan, const Node& node, const Tensor& dy);

 private:
  struct Loop;
  void drop_out(PlanBuilder& plan, const Node& node);

  DirectionSpec spec_;
  std::int64_t width_;  ///< of all gates: G U
  RecurrentProduct input_, state_;
  Tensor x_;      ///< as the input's product reads it: after dropout
  Tensor gates_;  ///< (L N, G U)
  Ref input_factors_{};
  std::shared_ptr<Loop> loop_;
};

}  // namespace convoke::nn
