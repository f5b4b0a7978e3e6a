#pragma once
#include <utility>

#include "convoke/nn/losses/loss.hpp"

namespace tiny {

/// A loss that computes what another one does, as a base for losses that also do something else.
class OtherLoss : public convoke::nn::Loss {
 public:
  explicit OtherLoss(convoke::nn::LossPtr loss = convoke::nn::default_loss()) : loss_(std::move(loss)) {}

  convoke::Settings settings() const override { return loss_->settings(); }
  std::string_view activation() const override { return loss_->activation(); }
  bool fits(std::int64_t outputs, std::int64_t classes) const override {
    return loss_->fits(outputs, classes);
  }
  convoke::nn::LossSums compute(const convoke::nn::LossInputs& samples, float* gradient) const override {
    return loss_->compute(samples, gradient);
  }
  double of(std::span<const float> prediction, std::int32_t label) const override {
    return loss_->of(prediction, label);
  }
  void to_probabilities(std::span<const float> prediction, std::span<float> classes) const override {
    loss_->to_probabilities(prediction, classes);
  }

 private:
  convoke::nn::LossPtr loss_;
};

}  // namespace tiny
