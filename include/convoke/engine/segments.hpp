#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

/// Consecutive lanes (micro-batches) of a step: [first, first + count).
struct LaneRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Returns the share of part `part` when `lanes` are divided into `parts` ranges whose sizes differ by at
/// most one.
LaneRange share_of(LaneRange lanes, std::int64_t part, std::int64_t parts);

/// A segment of lanes that one plan runs together: samples [first, first + lane * lanes) of the step.
struct LaneSegment {
  std::int64_t first, lane, lanes;
};

/// How a worker divides its lanes into segments.
struct Cut {
  std::int64_t lane = 0;              ///< samples per lane; the last lane of a step may have fewer
  bool one_by_one = false;            ///< run each lane separately
  std::int64_t plan_bytes = 0;        ///< approximate activation memory of lanes that run together
  std::int64_t bytes_per_sample = 1;  ///< bytes of activations, see activation_bytes_per_sample
};

/// Returns the limit, in bytes, of the activations of lanes that a worker runs together: 8 MiB. There is no
/// limit if batch norms are synchronised, because all lanes are then active at the same time anyway.
std::int64_t bytes_together(const nn::Graph& graph);

/// Returns the approximate bytes of activations per sample: the output of every node, and half as much again
/// for gradients.
std::int64_t activation_bytes_per_sample(const nn::Graph& graph, nn::Precision precision);

/// Returns the segments in which a worker runs `lanes` of a step of `samples` samples.
std::vector<LaneSegment> lane_segments(std::int64_t samples, LaneRange lanes, const Cut& cut);

}  // namespace convoke::engine
