#pragma once
#include "nn/losses/weights.hpp"

namespace convoke::nn {

/// Mean over the outputs of a function of the error y - t. With one output, t is the label as a number
/// (ordered classes: grades, ages), and the predicted class is the nearest label. Otherwise t is the one-hot
/// label.
class RegressionLoss : public Loss {
 public:
  explicit RegressionLoss(ClassWeights weights) : weights_(std::move(weights)) {}
  bool fits(std::int64_t outputs, std::int64_t classes) const override;
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override;
  /// With one output, the nearest label gets probability 1.
  void to_probabilities(std::span<const float> prediction, std::span<float> classes) const override;

 protected:
  struct Term {
    double value, slope;
  };
  Settings named(const char* name) const;

 private:
  virtual Term term(double error) const = 0;

  ClassWeights weights_;
};

/// (y - t)^2.
class MeanSquaredError final : public RegressionLoss {
 public:
  using RegressionLoss::RegressionLoss;
  Settings settings() const override { return named("mean_squared_error"); }
  static LossPtr make(SettingsReader& read) { return std::make_shared<MeanSquaredError>(ClassWeights(read)); }

 private:
  Term term(double error) const override { return {error * error, 2 * error}; }
};

/// |y - t|.
class MeanAbsoluteError final : public RegressionLoss {
 public:
  using RegressionLoss::RegressionLoss;
  Settings settings() const override { return named("mean_absolute_error"); }
  static LossPtr make(SettingsReader& read) {
    return std::make_shared<MeanAbsoluteError>(ClassWeights(read));
  }

 private:
  Term term(double error) const override {
    return {error < 0 ? -error : error, double(error > 0) - double(error < 0)};
  }
};

}  // namespace convoke::nn
