#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/working_weights.hpp"
#include "reference/model.hpp"

// A network on random parameters and data, beside its reference.

/// Tokens of a Batch are below this; every fourth or so is 0, as padding is.
inline constexpr std::uint64_t kVocabulary = 4;

/// Samples with labels and ids: sample i of the whole data set is the same in any batch.
struct Batch {
  std::vector<float> input;          ///< numbers, or
  std::vector<std::int32_t> tokens;  ///< tokens
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> ids;

  /// The samples first..first + count.
  Batch(const convoke::nn::Graph& graph, std::int64_t count, std::uint32_t first = 0);
  convoke::nn::StepKey key(std::uint64_t seed = 5, std::uint32_t epoch = 2) const {
    return {seed, epoch, ids};
  }
};

/// Parameters such that nothing is zero or one: Glorot weights, and vectors around their initial values.
convoke::AlignedBuffer<float> random_parameters(const convoke::nn::ParameterLayout& layout,
                                                std::uint64_t seed = 11);

/// Canonical values of an arena by name.
reference::Parameters by_name(const convoke::nn::ParameterLayout& layout, std::span<const float> arena);

/// What one step of a plan gives.
struct Outcome {
  std::vector<double> output;
  double loss = 0;
  std::int64_t correct = 0;
  reference::Parameters gradients;
};

/// A compiled plan with parameters and gradients of its own.
class Experiment {
 public:
  Experiment(const convoke::nn::Graph& graph, convoke::nn::PlanOptions options);

  /// Forward, loss and backward (or forward alone for inference). `batch` samples are in the whole step.
  Outcome run(const Batch& batch, std::int64_t whole = 0);

  std::shared_ptr<const convoke::nn::ParameterLayout> layout;
  convoke::nn::Network network;
  convoke::AlignedBuffer<float> parameters, gradients;
  convoke::nn::WorkingWeights working;  ///< refreshed by every run
};

/// Largest difference relative to the largest value of `expected`, or to `floor` if that is larger.
double difference(const std::vector<double>& actual, const std::vector<double>& expected, double floor = 0);

/// The sum of what the plan of one lane gives for the lanes of a batch, one after another.
Outcome lane_by_lane(Experiment& one, const convoke::nn::Graph& graph, std::int64_t lane, std::int64_t lanes);

/// CHECKs that both outcomes are equal to `tolerance`, naming what differs.
void check_equal(const Outcome& actual, const Outcome& expected, double tolerance);

/// The reference's outcome for an experiment's parameters.
Outcome reference_outcome(const convoke::nn::Graph& graph, const Experiment& experiment, const Batch& batch);

/// CHECKs a graph in training and inference against the reference, and the reference's gradients against
/// central differences of its loss (where there are few parameters: the reference is slow).
void check_graph(const convoke::nn::Graph& graph, convoke::nn::PlanOptions options, double tolerance = 2e-5);

/// CHECKs the graph in bf16, training and inference, weights copied once or by the plan, against the
/// reference: outputs and gradients by the root of their mean squared difference, relative to that of the
/// values. Use graphs without kinks, or a wide tolerance (0.25): rounding opens and shuts ReLUs. Does nothing
/// where the processor has no bf16.
void check_bf16(const convoke::nn::Graph& graph, convoke::nn::PlanOptions options, double tolerance = 0.03);
