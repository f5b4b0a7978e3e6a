#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

/// Lanes that follow one another: [first, first + count) of a step.
struct LaneRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The share of part `part` when `lanes` are cut into `parts` ranges that differ by one at most.
LaneRange share_of(LaneRange lanes, std::int64_t part, std::int64_t parts);

/// A stretch of lanes that one plan takes together: samples [first, first + lane * lanes) of the step.
struct Stretch {
  std::int64_t first, lane, lanes;
};

/// How a worker cuts its lanes into stretches.
struct Cut {
  std::int64_t lane = 0;              ///< samples; the last lane of a step may have fewer
  bool one_by_one = false;            ///< no two lanes together
  std::int64_t plan_bytes = 0;        ///< activation memory of lanes that run together, about
  std::int64_t bytes_per_sample = 1;  ///< of activations, see activation_bytes_per_sample
};

/// Lanes of a worker run together as long as their activations stay below this. Measured on one core:
/// mnist-ensemble at batch 64 is as fast in two plans of 32 samples as in one of 64 (0.6 %, within noise),
/// and 2 % faster than in three; mnist-ddp at batch 512 is 5 % faster with one lane of 32 samples than with
/// two.
constexpr std::int64_t kPlanBytes = std::int64_t{8} << 20;

/// Activations of a sample, about: what every node writes, and half as much again for gradients.
std::int64_t activation_bytes_per_sample(const nn::Graph& graph, nn::Precision precision);

/// The stretches in which a worker runs `lanes` of a step of `samples` samples.
std::vector<Stretch> stretches(std::int64_t samples, LaneRange lanes, const Cut& cut);

}  // namespace convoke::engine
