#pragma once
#include "nn/losses/weights.hpp"

namespace convoke::nn {

/// The options of both losses.
class CrossEntropy : public Loss {
 public:
  explicit CrossEntropy(CrossEntropyOptions options = {}, ClassWeights weights = {})
      : options_(std::move(options)), weights_(std::move(weights)) {}

 protected:
  CrossEntropyOptions options_;
  ClassWeights weights_;
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
  static LossPtr make(SettingsReader& read);
};

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
  static LossPtr make(SettingsReader& read);
};

}  // namespace convoke::nn
