#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "nn/dnnl.hpp"
#include "nn/kernels/recurrent.hpp"
#include "nn/layers/recurrent_product.hpp"

namespace convoke::nn {

/// Extents of a batch of sequences.
struct SequenceExtents {
  std::int64_t samples, length, features;
};

/// Returns the layout (L, N, F) for a sequence's dims (N, F, 1, L): all samples of one time step are
/// neighbors. Recurrent layers read and write this layout; other layers reorder it.
inline Desc time_major_desc(const SequenceExtents& e, Type type) {
  return {
      {e.samples, e.features, 1, e.length}, type, Dims{e.features, 1, e.features, e.samples * e.features}};
}

struct DirectionSpec;

/// The rows of a loop over time that begins each sample at its first token that is not 0. Before it, all
/// samples have the state of the padding: one row after those of the samples, or none if it is masked. With a
/// mask, the loop may instead end each sample at its last such token, where its state stays.
struct ActiveRows {
  const std::int32_t* begin = nullptr;   ///< (L + 1): first row of each step; null: a step has all samples
  const std::int32_t* active = nullptr;  ///< (L): the samples that have begun, or have not ended
  const std::int32_t* order = nullptr;   ///< (N): the sample of each row
  bool ends = false;  ///< samples end; those that end at a step still have rows, unused, in the next one
};

/// The input's part of the gates of one direction: W x + b for all time steps at once, with dropout of x.
///
/// Behind an embedding, x has equal rows where tokens are equal: within a sample if x has dropout, whose mask
/// is that of the sample, otherwise within the micro-batch. In many datasets most tokens are padding. Unless
/// nearly all rows differ, only the distinct ones are multiplied by W, and in backward the sums of their
/// gradients. Unless most time steps have all samples, the loop over time has ActiveRows.
class RecurrentInput {
 public:
  /// `width`: of all gates, G U.
  RecurrentInput(PlanBuilder& plan, const Node& node, const DirectionSpec& spec, std::int64_t width);

  void add_forward(PlanBuilder& plan, const Node& node);
  /// Adds the backward steps, which read d loss / d (W x + b) in gates(), and gives the gradient of x.
  void add_backward(PlanBuilder& plan, const Node& node);

  /// (L N, G U): memory for the gates of all time steps.
  const Tensor& gates() const;
  /// Sets where the step that handles time step t finds W x + b: in gates(), or in other memory, once for all
  /// equal rows.
  template <class T>
  void set_input(const Frame& frame, std::int64_t number, std::int64_t t, RecurrentStep<T>& step) const;
  /// Rows of gates() with ActiveRows are those of the steps, without gaps.
  ActiveRows active_rows(const Frame& frame) const;
  /// Returns that other memory, and that of ActiveRows.
  std::vector<Ref> uses() const;
  /// Returns the rows of a piece of rows that are fewer than all (RowsGradient); 0 without ActiveRows.
  std::int64_t piece() const;

 private:
  struct Steps;

  RecurrentProduct product_;
  std::shared_ptr<Steps> steps_;  ///< shared by the kernels of the plan
};

/// The streams of the random numbers of a recurrent layer's masks. Dropout layers draw from the stream of
/// their node, recurrent layers from streams beyond those of all nodes.
enum class Mask : std::uint32_t { kInput = 0, kState = 1 };
std::uint32_t mask_stream(const Node& node, std::uint32_t direction, Mask mask);

/// Fills factors (N, width) with 0 or 1 / (1 - rate). `keep`: scratch memory (N, width).
void draw_recurrent_factors(const Frame& frame, std::int64_t samples, std::int64_t width, double rate,
                            std::uint32_t stream, float* factors, std::uint8_t* keep);

}  // namespace convoke::nn
