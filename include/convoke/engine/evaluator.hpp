#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/working_weights.hpp"

namespace convoke::engine {

struct EvaluatorOptions {
  int threads = 1;         ///< workers of this rank, >= 1
  std::int64_t chunk = 0;  ///< samples that run together; 0: chosen from the size of the activations
  nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
  nn::Precision precision = nn::Precision::kFloat32;
  nn::LossPtr loss = nn::default_loss();
  std::int64_t classes = 0;  ///< 0: one for each output
};

/// Those that go with an engine, for samples of `classes` classes.
EvaluatorOptions evaluator_options(const EngineOptions& engine, std::int64_t classes);

/// Test-time augmentation: how often a sample is evaluated, first as it is, then in views keyed by (seed, 1),
/// (seed, 2), ...
struct TestViews {
  std::int64_t count = 1;
  std::uint64_t seed = 0;

  /// The mean over the views of what a network says in each.
  std::vector<float> mean(const std::function<std::vector<float>(std::int64_t view)>& outputs) const;
};

/// Accuracy and mean loss on some samples.
struct Score {
  std::int64_t samples = 0;
  double accuracy = 0;
  double loss = 0;  ///< infinite if that of a sample is not finite (or 2^40 or more)
};

/// Predictions of one parameter set after the other: a graph compiled for inference, once per worker thread,
/// which share one copy of the parameters.
class Evaluator {
 public:
  explicit Evaluator(const nn::Graph& graph, EvaluatorOptions options = {});

  /// Takes other parameters (canonical).
  void load(std::span<const float> parameters);

  /// What the network says of the samples `ids`, by this process alone: (ids.size(), outputs per sample),
  /// with the activation that the loss takes in.
  std::vector<float> outputs(const data::BatchLoader& loader, std::span<const std::uint32_t> ids);
  /// The mean of what it says of several views of each, which are the loader's.
  std::vector<float> outputs(const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                             const TestViews& views);
  /// The same for samples that are at hand as a network takes them, (n, C, H, W), normalised; tokens as whole
  /// numbers.
  std::vector<float> outputs(std::span<const float> samples);

  /// The network's own output, without that activation: (n, output_shape()...), row-major, of whatever shape
  /// the last node has. `samples` as above.
  std::vector<float> raw(std::span<const float> samples);
  std::vector<float> raw(const data::BatchLoader& loader, std::span<const std::uint32_t> ids);

  /// Outputs as class probabilities, (n, classes).
  std::vector<float> to_probabilities(std::vector<float> outputs) const;
  std::vector<float> predict(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) {
    return to_probabilities(outputs(loader, ids));
  }
  std::vector<float> predict(std::span<const float> samples) { return to_probabilities(outputs(samples)); }

  /// Loss of a sample from outputs(); infinite if an output of it is not finite.
  double loss(std::span<const float> outputs, std::size_t sample, std::int32_t label) const;

  std::size_t parameter_values() const { return canonical_values(parameters_); }
  std::int64_t classes() const { return options_.classes; }
  const nn::ValueSpec& input_shape() const { return input_; }
  const Shape& output_shape() const { return output_; }
  std::int64_t chunk() const { return chunk_; }

 private:
  using Fill = std::function<void(nn::Network& network, std::size_t first, std::size_t count)>;
  Fill fill_from(std::span<const float> samples) const;
  Fill fill_from(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) const;
  std::vector<float> run(std::size_t count, const Fill& fill, bool activate = true);

  std::vector<CanonicalParameter> parameters_;
  nn::ValueSpec input_;
  Shape output_;
  EvaluatorOptions options_;
  std::int64_t outputs_ = 0;  // per sample
  std::int64_t chunk_ = 0;
  bool activated_ = false;  // the graph ends in what the loss takes in
  std::shared_ptr<const nn::ParameterLayout> layout_;
  AlignedBuffer<float> arena_;
  std::unique_ptr<nn::WorkingWeights> working_;
  std::vector<nn::Network> workers_;
};

/// This rank's part of `ids` when a group shares them evenly: neighbours, in order of rank.
std::span<const std::uint32_t> part_of(const mpi::Communicator& group, std::span<const std::uint32_t> ids);

/// Score of the loaded parameters on `ids`, shared by the ranks of `group`. The same on all of them, and for
/// any number of them. Collective; what one rank throws, all throw (mpi::agree).
Score score(Evaluator& evaluator, const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
            const mpi::Communicator& group);

}  // namespace convoke::engine
