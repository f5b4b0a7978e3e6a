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

namespace convoke::engine {

struct EvaluatorOptions {
  int threads = 1;         ///< workers of this rank, >= 1
  std::int64_t chunk = 0;  ///< samples that run together; 0: chosen from the size of the activations
  nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
};

/// Those that go with an engine.
EvaluatorOptions evaluator_options(const EngineOptions& engine);

/// Accuracy and mean loss (softmax cross-entropy) on some samples.
struct Score {
  std::int64_t samples = 0;
  double accuracy = 0;
  double loss = 0;
};

/// Class probabilities of one parameter set after the other: a graph compiled for inference, once per worker
/// thread, which share one copy of the parameters.
class Evaluator {
 public:
  explicit Evaluator(const nn::Graph& graph, EvaluatorOptions options = {});

  /// Takes other parameters (canonical).
  void load(std::span<const float> parameters);

  /// Class probabilities of the samples `ids`, by this process alone: (ids.size(), classes).
  std::vector<float> predict(const data::BatchLoader& loader, std::span<const std::uint32_t> ids);

  /// The same for samples that are at hand as a network takes them, (n, C, H, W), normalised.
  std::vector<float> predict(std::span<const float> samples);

  std::size_t parameter_values() const { return canonical_values(parameters_); }
  std::int64_t classes() const { return classes_; }
  const Shape& input_shape() const { return input_; }
  std::int64_t chunk() const { return chunk_; }

 private:
  std::vector<float> predict(std::size_t count,
                             const std::function<void(std::size_t, std::span<float>)>& fill);

  std::vector<CanonicalParameter> parameters_;
  Shape input_;
  std::int64_t classes_ = 0;
  std::int64_t chunk_ = 0;
  bool probabilities_ = false;  // the graph ends in a softmax; else it gives logits
  std::shared_ptr<const nn::ParameterLayout> layout_;
  AlignedBuffer<float> arena_;
  std::vector<nn::Network> workers_;
};

/// This rank's part of `ids` when a group shares them evenly: neighbours, in order of rank.
std::span<const std::uint32_t> part_of(const mpi::Communicator& group, std::span<const std::uint32_t> ids);

/// Score of the loaded parameters on `ids`, shared by the ranks of `group`. The same on all of them, and for
/// any number of them. Collective.
Score score(Evaluator& evaluator, const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
            const mpi::Communicator& group);

/// Cross-entropy of one sample, -log p, with p at least 1e-7 (as Keras), in units of 2^-32: sums of it do not
/// depend on their order.
std::int64_t fixed_loss(float probability);
double loss_from_fixed(std::int64_t sum);

}  // namespace convoke::engine
