#include "convoke/nn/losses/loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/core/error.hpp"

namespace convoke::nn {
namespace {

class Distilled final : public Loss {
 public:
  Distilled(LossPtr base, double temperature, double weight)
      : base_(std::move(base)), temperature_(temperature), weight_(weight) {}

  Settings settings() const override { return base_->settings(); }
  std::string_view activation() const override { return base_->activation(); }
  bool fits(std::int64_t outputs, std::int64_t classes) const override {
    return base_->fits(outputs, classes);
  }
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override {
    return base_->of(prediction, label);
  }
  void to_probabilities(std::span<const float> prediction, std::span<float> classes) const override {
    base_->to_probabilities(prediction, classes);
  }

 private:
  LossPtr base_;
  double temperature_, weight_;
};

//   soft = T^2 (log sum_k e^(z_k / T) - sum_k q_k z_k / T)
//   d soft / d z_k = T (softmax(z / T)_k - q_k)
LossSums Distilled::compute(const LossInputs& samples, float* gradient) const {
  const std::int64_t classes = samples.outputs_per_sample;
  ensure(samples.soft_labels.size() == samples.labels.size() * static_cast<std::size_t>(classes),
         "soft labels of each sample");
  LossSums result = base_->compute(samples, gradient);
  result.loss *= 1 - weight_;
  const auto hard = static_cast<float>(1 - weight_);
  const float* z = samples.outputs;
  const float* q = samples.soft_labels.data();
  for (std::size_t i = 0; i < samples.labels.size(); ++i, z += classes, q += classes) {
    const double own = samples.sample_weights.empty() ? 1.0 : static_cast<double>(samples.sample_weights[i]);
    const auto largest = static_cast<double>(*std::max_element(z, z + classes));
    const auto scaled = [&](std::int64_t k) { return (static_cast<double>(z[k]) - largest) / temperature_; };
    double sum = 0, expected = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      sum += std::exp(scaled(k));
      expected += static_cast<double>(q[k]) * scaled(k);
    }
    result.loss += weight_ * own * temperature_ * temperature_ * (std::log(sum) - expected);
    if (gradient == nullptr) continue;
    const double slope = weight_ * own * temperature_ / static_cast<double>(samples.batch);
    for (std::int64_t k = 0; k < classes; ++k, ++gradient) {
      const double soft = slope * (std::exp(scaled(k)) / sum - static_cast<double>(q[k]));
      *gradient = hard * *gradient + static_cast<float>(soft);
    }
  }
  return result;
}

}  // namespace

LossPtr distilled(LossPtr base, double temperature, double weight) {
  ensure(base->activation() == "softmax", "the loss of a distillation ends in softmax");
  return std::make_shared<Distilled>(std::move(base), temperature, weight);
}

}  // namespace convoke::nn
