#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "reference/model.hpp"

// A network with random parameters and data, and its reference.

/// Plans of one micro-batch of so many samples.
inline constexpr convoke::nn::PlanOptions kMicroBatchOf2{.micro_batch = 2}, kMicroBatchOf3{.micro_batch = 3};

/// Tokens of a Batch are below this number. About every fourth token is 0, like padding.
inline constexpr std::uint64_t kVocabulary = 4;

/// Samples with labels and ids. Sample i of the whole data set is the same in any batch.
struct Batch {
  std::vector<float> input;          ///< empty for tokens
  std::vector<std::int32_t> tokens;  ///< empty for numbers
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> ids, repeats;  ///< repeats: empty

  /// Makes the samples first..first + count.
  Batch(const convoke::nn::Graph& graph, std::int64_t count, std::uint32_t first = 0);
  convoke::nn::StepKey key(std::uint64_t seed = 5, std::uint32_t epoch = 2) const {
    return {seed, epoch, ids, 0, repeats};
  }
};

/// Returns parameters of which none is zero or one: Glorot weights, and vectors around their initial values.
convoke::AlignedBuffer<float> random_parameters(const convoke::nn::ParameterLayout& layout,
                                                std::uint64_t seed = 11);

/// Returns the canonical values of an arena by name.
reference::Parameters by_name(const convoke::nn::ParameterLayout& layout, std::span<const float> arena);

/// The results of one step of a plan.
struct Outcome {
  std::vector<double> output;
  double loss = 0;
  std::int64_t correct = 0;
  reference::Parameters gradients;
};

/// A compiled plan with its own parameters and gradients.
class Experiment {
 public:
  /// Without `random`, all parameters are 0 until they are set.
  Experiment(const convoke::nn::Graph& graph, convoke::nn::PlanOptions options, bool random = true);

  /// Runs forward, loss and backward (or forward alone for inference). `whole` is the number of samples of
  /// the whole step.
  Outcome run(const Batch& batch, std::int64_t whole = 0);
  /// Gives a parameter these canonical values.
  void set(const std::string& parameter, const std::vector<float>& values);

  std::shared_ptr<const convoke::nn::ParameterLayout> layout;
  convoke::nn::Network network;
  convoke::AlignedBuffer<float> parameters;
  convoke::AlignedBuffer<float> gradients;  ///< empty in inference
  convoke::nn::WorkingWeights working;      ///< every run refreshes it
};

/// Copies to `part` the values of those parameters of `all` that `part` also has.
void copy_parameters(const Experiment& all, Experiment& part);

/// Returns the largest difference relative to the largest value of `expected`, or to `floor` if that is
/// larger.
double difference(const std::vector<double>& actual, const std::vector<double>& expected, double floor = 0);

/// Runs the plan `one` of one micro-batch for each micro-batch of a batch. Returns the sum of the results.
Outcome one_by_one(Experiment& one, const convoke::nn::Graph& graph, std::int64_t micro_batch,
                   std::int64_t micro_batches);

/// Relative to `expected`. The gradient of a bias before a batch norm is only rounding: values below 1e-3
/// count as rounding.
double rms_difference(const std::vector<double>& actual, const std::vector<double>& expected);

/// CHECKs that both outcomes are equal to `tolerance`; names the differences.
void check_equal(const Outcome& actual, const Outcome& expected, double tolerance);

/// Returns the reference's outcome for an experiment's parameters.
Outcome reference_outcome(const convoke::nn::Graph& graph, const Experiment& experiment, const Batch& batch);

/// Returns the outcome of the graph's InferenceGraph in a plan with post-ops, for an experiment's parameters.
Outcome folded_outcome(const convoke::nn::Graph& graph, const Experiment& experiment, const Batch& batch);

/// CHECKs a graph in training and inference, also folded, against the reference. If there are few parameters
/// (the reference is slow) and the instruction set is not limited, also checks the reference's gradients
/// against central differences of its loss.
void check_graph(const convoke::nn::Graph& graph, convoke::nn::PlanOptions options = kMicroBatchOf3,
                 double tolerance = 2e-5);

/// CHECKs the graph in bf16 against the reference, in training and inference, with weights copied once or by
/// the plan: the root mean square of the differences of outputs and gradients, relative to that of the
/// values. Use graphs without kinks, or a wide tolerance (0.25), because rounding switches ReLUs on and off.
/// Does nothing if the processor has no bf16.
void check_bf16(const convoke::nn::Graph& graph, convoke::nn::PlanOptions options, double tolerance = 0.03);
