#pragma once
#include <vector>

#include "nn/losses/cross_entropy.hpp"

namespace convoke::nn {

/// The focal loss (Lin et al., "Focal loss for dense object detection", 2017) of a softmax:
/// -sum_c t_c (1 - p_c)^gamma log p_c, where p = softmax(z) and t is as in SoftmaxCrossEntropy. Samples that
/// the network already predicts with confidence count less than in cross-entropy, so rare and difficult
/// classes count more. `class_weights` are the paper's alpha. With gamma = 0 it is cross-entropy, bit for
/// bit.
class SoftmaxFocal final : public SoftmaxCrossEntropy {
 public:
  /// `gamma` >= 0: the focusing parameter.
  explicit SoftmaxFocal(double gamma, CrossEntropyOptions options = {})
      : SoftmaxCrossEntropy(std::move(options)), gamma_(gamma) {}
  Settings settings() const override;
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override;

 private:
  double gamma_;
};

/// The focal loss of a sigmoid, as published: -mean_k (t_k (1 - p_k)^gamma log p_k + (1 - t_k) p_k^gamma
/// log(1 - p_k)), where p = sigmoid(z) and t is as in SigmoidCrossEntropy. With one output, the paper's alpha
/// is `class_weights = [1 - alpha, alpha]`. With gamma = 0 it is cross-entropy, bit for bit.
class SigmoidFocal final : public SigmoidCrossEntropy {
 public:
  /// `gamma` >= 0: the focusing parameter.
  explicit SigmoidFocal(double gamma, CrossEntropyOptions options = {})
      : SigmoidCrossEntropy(std::move(options)), gamma_(gamma) {}
  Settings settings() const override;
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override;

 private:
  double gamma_;
};

/// Reads the options of one of them.
template <class Focal>
LossPtr make_focal(SettingsReader& read);

/// Returns the keys of both: "gamma" and CrossEntropyOptions::keys().
std::vector<KeyDescription> focal_keys();

}  // namespace convoke::nn
