#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/run/model_file.hpp"

namespace convoke::train {

/// How much each place of the last convolution's output speaks for a class.
struct ActivationMap {
  std::int64_t height = 0, width = 0;
  std::vector<float> values = {};  ///< (height, width), at least 0
};

/// Class-activation maps of a trained network (Selvaraju et al., "Grad-CAM: visual explanations from deep
/// networks via gradient-based localization", 2017): from the activations A_k of the last convolution and
/// the score y of a class (an output before softmax or sigmoid),
///
///     map = max(0, sum_k a_k A_k),   a_k = mean over all places of d y / d A_k
///
/// Computes in this process alone, in fp32, as in prediction (without dropout, with running statistics).
class GradCam {
 public:
  /// Returns the node whose output the maps are made of: the last one that has as many rows and columns as
  /// the output of the last convolution over two axes, and that separates the network into two parts. So
  /// normalization and activation behind the convolution are included, as is the sum of a residual block.
  /// Empty if there is none, if the rest of the network draws random numbers, or if the outputs are not
  /// scores of classes: one for each class, or one of a sigmoid for two classes.
  static std::optional<std::size_t> node_of(const run::ModelDescription& model);

  /// `model` must have a node_of().
  explicit GradCam(const run::ModelDescription& model);

  /// Replaces the parameters (canonical values of the whole network).
  void load(std::span<const float> parameters);

  /// Returns the maps of one sample for these classes.
  std::vector<ActivationMap> maps(const data::BatchLoader& loader, std::uint32_t sample,
                                  std::span<const std::int64_t> classes);

 private:
  GradCam(const run::ModelDescription& model, std::size_t node);
  ActivationMap map_of(std::span<const float> activations, std::int64_t of_class);

  nn::LossPtr loss_;
  nn::Graph head_;
  Shape shape_;  // (channels, height, width) of the activations
  engine::Evaluator backbone_;
  std::vector<engine::CanonicalParameter> parameters_;  // of the head
  std::shared_ptr<const nn::ParameterLayout> layout_;
  AlignedBuffer<float> arena_, gradients_;
  nn::Network plan_;  // of the head, for one sample
};

}  // namespace convoke::train
