#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "nn/losses/weights.hpp"

namespace convoke::nn {

/// The options of both losses.
class CrossEntropy : public Loss {
 public:
  explicit CrossEntropy(CrossEntropyOptions options = {}) : options_(std::move(options)) {}

 protected:
  CrossEntropyOptions options_;
};

/// -sum_c t_c log softmax(z)_c, where t is the one-hot label, or (1 - s) t + s / K with label smoothing s.
/// Needs one output for each class. A last softmax becomes part of the loss.
class SoftmaxCrossEntropy : public CrossEntropy {
 public:
  using CrossEntropy::CrossEntropy;
  Settings settings() const override;
  std::string_view activation() const override { return "softmax"; }
  bool fits(std::int64_t outputs, std::int64_t classes) const override;
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override;
  void to_probabilities(std::span<const float> prediction, std::span<float> classes) const override;
};

/// Reads the options of such a loss; `first` are the arguments of its constructor before them.
template <class Made, class... First>
LossPtr make_cross_entropy(SettingsReader& read, First... first) {
  return std::make_shared<Made>(first..., CrossEntropyOptions(read));
}

/// -mean_k (t_k log p_k + (1 - t_k) log(1 - p_k)), where p = sigmoid(z): Keras' binary cross-entropy. With
/// one output there are two classes, and t is the label. Otherwise there is one output for each class, and t
/// is the one-hot label. Label smoothing s: (1 - s) t + s / 2. A last sigmoid becomes part of the loss.
class SigmoidCrossEntropy : public CrossEntropy {
 public:
  using CrossEntropy::CrossEntropy;
  Settings settings() const override;
  std::string_view activation() const override { return "sigmoid"; }
  bool fits(std::int64_t outputs, std::int64_t classes) const override;
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override;
  void to_probabilities(std::span<const float> prediction, std::span<float> classes) const override;

 protected:
  struct Term {
    double value, slope;
  };
  /// Sums the losses of samples: of_output(z)(t) returns the loss of an output whose target is t, and its
  /// derivative with respect to z.
  template <class OfOutput>
  LossSums sum(const LossInputs& samples, float* gradient, const OfOutput& of_output) const {
    LossSums result;
    const std::int64_t outputs = samples.outputs_per_sample;
    const float* z = samples.outputs;
    for (std::size_t i = 0; i < samples.labels.size(); ++i, z += outputs) {
      const std::array<Target, 2> targets = options_.weights.of(samples, i);
      const auto best =
          static_cast<std::int32_t>(outputs == 1 ? z[0] > 0 : std::max_element(z, z + outputs) - z);
      result.correct += best == samples.main_label(i) ? 1 : 0;
      double sum = 0;
      for (std::int64_t k = 0; k < outputs; ++k) {
        const auto term = of_output(static_cast<double>(z[k]));
        double slope = 0;
        for (const auto& [label, weight] : targets) {
          const bool is = outputs == 1 ? label == 1 : k == label;
          const Term own = term((is ? 1 : 0) * (1 - options_.label_smoothing) + options_.label_smoothing / 2);
          sum += static_cast<double>(weight) * own.value;
          slope += static_cast<double>(weight) * own.slope;
        }
        if (gradient != nullptr)
          *gradient++ = static_cast<float>(slope / static_cast<double>(samples.batch * outputs));
      }
      result.loss += sum / static_cast<double>(outputs);
    }
    return result;
  }
};

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
