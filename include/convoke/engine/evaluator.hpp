#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/nn/inference_graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

struct EvaluatorOptions {
  int threads = 1;           ///< workers of this rank, >= 1
  std::int64_t chunk = 0;    ///< samples that run together; 0: chosen from the size of the activations
  std::int64_t samples = 0;  ///< the samples of a call, if they are few; 0: many
  nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
  nn::Precision precision = nn::Precision::kFloat32;
  /// Predict by an nn::InferenceGraph and plans with post-ops: faster, but rounded otherwise than in
  /// training.
  bool folded = false;
  nn::LossPtr loss = nn::default_loss();
  std::int64_t classes = 0;  ///< 0: one for each output
};

/// Returns the options of an evaluator that matches an engine, for samples of `classes` classes.
EvaluatorOptions evaluator_options(const EngineOptions& engine, std::int64_t classes);

/// Test-time augmentation: how often a sample is evaluated, first unchanged, then in views keyed by (seed,
/// 1), (seed, 2), ...
struct TestViews {
  std::int64_t count = 1;
  std::uint64_t seed = 0;

  /// Returns the mean of a network's outputs over the views.
  std::vector<float> mean(const std::function<std::vector<float>(std::int64_t view)>& outputs) const;
};

/// Accuracy and mean loss on some samples.
struct Score {
  std::int64_t samples = 0;
  double accuracy = 0;
  double loss = 0;  ///< infinite if the loss of a sample is not finite (or 2^40 or more)
  /// The mean of what training minimizes, Evaluator::objective(); NaN: it does not differ from the loss.
  double objective = std::numeric_limits<double>::quiet_NaN();
};

/// Predicts with one set of parameters after another. The graph is compiled for inference once per worker
/// thread; the workers share one copy of the parameters.
class Evaluator {
 public:
  explicit Evaluator(const nn::Graph& graph, EvaluatorOptions options = {});

  /// Replaces the parameters (canonical values).
  void load(std::span<const float> parameters);

  /// Returns the network's outputs for the samples `ids`, computed by this process alone: (ids.size(),
  /// outputs per sample), after the activation that is part of the loss.
  std::vector<float> outputs(const data::BatchLoader& loader, std::span<const std::uint32_t> ids);
  /// Returns the mean of the outputs over several views of each sample, which the loader makes.
  std::vector<float> outputs(const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                             const TestViews& views);
  /// Returns the outputs for samples in memory, in the form that the network reads: (n, C, H, W), normalized;
  /// tokens as whole numbers.
  std::vector<float> outputs(std::span<const float> samples);

  /// Returns the network's own outputs, without that activation: (n, output_shape()...), row-major, with any
  /// shape of the last node. `samples` as above.
  std::vector<float> raw(std::span<const float> samples);
  std::vector<float> raw(const data::BatchLoader& loader, std::span<const std::uint32_t> ids);

  /// Converts outputs to class probabilities, (n, classes). With predicts_number(), they only say which label
  /// is nearest: 1 for it.
  std::vector<float> to_probabilities(std::vector<float> outputs) const;
  std::vector<float> predict(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) {
    return to_probabilities(outputs(loader, ids));
  }
  std::vector<float> predict(std::span<const float> samples) { return to_probabilities(outputs(samples)); }

  /// Returns the loss of a sample from outputs(); infinite if one of its outputs is not finite.
  double loss(std::span<const float> outputs, std::size_t sample, std::int32_t label) const;

  /// Returns the objective of a sample: its loss as in training, with label smoothing, class weights and the
  /// weight of the sample, plus the penalties on the loaded parameters. (Without mixtures and teacher.)
  double objective(std::span<const float> outputs, std::size_t sample, std::int32_t label,
                   float weight) const;
  /// True if objective() differs from loss() also for samples of weight 1.
  bool has_objective() const;

  /// The number of values that load() takes.
  std::size_t parameter_values() const { return parameter_values_; }
  std::int64_t classes() const { return options_.classes; }
  const nn::ValueSpec& input_shape() const { return input_; }
  const Shape& output_shape() const { return output_; }
  /// nn::predicts_number() of this network.
  bool predicts_number() const;
  std::int64_t chunk() const { return chunk_; }
  /// The plan of the first worker, for benchmarks.
  nn::Network& plan() { return workers_.front(); }

 private:
  using Fill = std::function<void(nn::Network& network, std::size_t first, std::size_t count)>;
  Fill fill_from(std::span<const float> samples) const;
  Fill fill_from(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) const;
  std::vector<float> run(std::size_t count, const Fill& fill, bool activate = true);

  std::optional<nn::InferenceGraph> folded_;
  std::size_t parameter_values_ = 0;
  std::vector<CanonicalParameter> parameters_;  // of the graph that is compiled
  nn::ValueSpec input_;
  Shape output_;
  EvaluatorOptions options_;
  std::int64_t outputs_ = 0;  // per sample
  std::int64_t chunk_ = 0;
  nn::LossPtr own_loss_;  // without a teacher
  struct Penalized {
    std::size_t offset = 0, size = 0;  // in the canonical values
    double l1 = 0, l2 = 0;
  };
  std::vector<Penalized> penalized_;
  double penalty_ = 0;      // of the loaded parameters
  bool activated_ = false;  // the outputs are values of the activation that is part of the loss
  std::shared_ptr<const nn::ParameterLayout> layout_;
  AlignedBuffer<float> arena_;
  std::unique_ptr<nn::WorkingWeights> working_;
  std::vector<nn::Network> workers_;
};

/// Returns this rank's part of `ids` when a group shares them evenly: neighboring ids, in order of rank.
std::span<const std::uint32_t> part_of(const mpi::Communicator& group, std::span<const std::uint32_t> ids);

/// The losses of samples that this rank evaluates with the parameters that are loaded at first.
class LossSum {
 public:
  LossSum(const Evaluator& evaluator, const data::Split& split);

  /// Adds sample `id` of the split, whose outputs are row `row` of Evaluator::outputs().
  void add(std::span<const float> outputs, std::size_t row, std::uint32_t id);

  /// Returns the score of the `samples` samples of all ranks, of which `correct` were predicted rightly. The
  /// sum is the same for any number of ranks. Collective over `group`.
  Score score(std::int64_t correct, std::int64_t samples, const mpi::Communicator& group);

 private:
  const Evaluator* evaluator_;
  const data::Split* split_;
  bool differs_;  // the objective from the loss
  ExactSum loss_, objective_;
};

/// Returns the score of the loaded parameters on `ids`, which the ranks of `group` share. It is the same on
/// all ranks, and for any number of ranks. Collective; if one rank throws, all throw its error (mpi::agree).
Score score(Evaluator& evaluator, const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
            const mpi::Communicator& group);

}  // namespace convoke::engine
