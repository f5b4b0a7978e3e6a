#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "nn/kernels/recurrent.hpp"
#include "nn/layers/recurrent_product.hpp"
#include "nn/plan/time_major.hpp"

namespace convoke::nn {

struct DirectionSpec;

/// The input's part of the gates of one direction: W x + b for all time steps at once, with dropout of x.
///
/// Behind an embedding, x has equal rows where tokens are equal: within a sample if x has dropout, whose mask
/// is that of the sample, otherwise within the micro-batch. In many datasets most tokens are padding. Unless
/// nearly all rows differ, only the distinct ones are multiplied by W, and in backward the sums of their
/// gradients.
class RecurrentInput {
 public:
  /// `width`: of all gates, G U.
  RecurrentInput(PlanBuilder& plan, const Node& node, const DirectionSpec& spec, std::int64_t width);

  void add_forward(PlanBuilder& plan, const Node& node);
  /// Adds the backward steps, which read d loss / d (W x + b) in gates(), and gives the gradient of x.
  void add_backward(PlanBuilder& plan, const Node& node);

  /// (L N, G U): memory for the gates of all time steps.
  const Tensor& gates() const;
  /// Sets where a time step finds W x + b: in gates(), or in other memory, once for all equal rows.
  template <class T>
  void set_input(const Frame& frame, std::int64_t t, RecurrentStep<T>& step) const;
  /// Returns that other memory.
  std::vector<Ref> uses() const;

 private:
  struct Steps;

  RecurrentProduct product_;
  std::optional<RecurrentProduct> part_;  ///< the same for a piece of the distinct rows
  std::shared_ptr<Steps> steps_;          ///< shared by the kernels of the plan
};

/// The streams of the random numbers of a recurrent layer's masks. Dropout layers draw from the stream of
/// their node, recurrent layers from streams beyond those of all nodes.
enum class Mask : std::uint32_t { kInput = 0, kState = 1 };
std::uint32_t mask_stream(const Node& node, std::uint32_t direction, Mask mask);

/// Fills factors (N, width) with 0 or 1 / (1 - rate). `keep`: scratch memory (N, width).
void draw_recurrent_factors(const Frame& frame, std::int64_t samples, std::int64_t width, double rate,
                            std::uint32_t stream, float* factors, std::uint8_t* keep);

}  // namespace convoke::nn
