#include "nn/losses/regression.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::nn {
namespace {

double target(std::size_t outputs, std::size_t k, std::int32_t label) {
  if (outputs == 1) return label;
  return static_cast<std::int32_t>(k) == label ? 1 : 0;
}

/// Returns the nearest of the labels 0..classes-1 to one output (`classes` 0: of all from 0 on), or -1 if it
/// is not finite; otherwise the place of the largest output.
std::int64_t predicted_class(std::span<const float> outputs, std::int64_t classes) {
  if (outputs.size() > 1) return std::max_element(outputs.begin(), outputs.end()) - outputs.begin();
  if (!std::isfinite(outputs[0])) return -1;
  const double largest = classes > 0 ? static_cast<double>(classes - 1) : 1e9;
  return std::llround(std::clamp(static_cast<double>(outputs[0]), 0.0, largest));
}

struct ErrorTerm {
  double value, slope;
};

class RegressionLoss final : public Loss {
 public:
  /// `term`: the function of an error, and its derivative.
  RegressionLoss(const char* name, ErrorTerm (*term)(double error), ClassWeights weights)
      : name_(name), term_(term), weights_(std::move(weights)) {}
  Settings settings() const override;
  bool fits(std::int64_t outputs, std::int64_t classes) const override;
  LossSums compute(const LossInputs& samples, float* gradient) const override;
  double of(std::span<const float> prediction, std::int32_t label) const override;
  /// With one output, the nearest label gets probability 1.
  void to_probabilities(std::span<const float> prediction, std::span<float> classes) const override;

 private:
  const char* name_;
  ErrorTerm (*term_)(double error);
  ClassWeights weights_;
};

bool RegressionLoss::fits(std::int64_t outputs, std::int64_t classes) const {
  return (outputs == 1 || outputs == classes) && weights_.fit(classes);
}

LossSums RegressionLoss::compute(const LossInputs& samples, float* gradient) const {
  LossSums result;
  const auto outputs = static_cast<std::size_t>(samples.outputs_per_sample);
  std::span<const float> y(samples.outputs, outputs);
  for (std::size_t i = 0; i < samples.labels.size(); ++i, y = {y.data() + outputs, outputs}) {
    const std::array<Target, 2> targets = weights_.of(samples, i);
    result.correct += predicted_class(y, samples.classes) == samples.main_label(i) ? 1 : 0;
    for (std::size_t k = 0; k < outputs; ++k) {
      double slope = 0;
      for (const auto& [label, weight] : targets) {
        const ErrorTerm error = term_(static_cast<double>(y[k]) - target(outputs, k, label));
        const double share = static_cast<double>(weight) / static_cast<double>(outputs);
        result.loss += error.value * share;
        slope += error.slope * share;
      }
      if (gradient != nullptr) *gradient++ = static_cast<float>(slope / static_cast<double>(samples.batch));
    }
  }
  return result;
}

double RegressionLoss::of(std::span<const float> prediction, std::int32_t label) const {
  double sum = 0;
  for (std::size_t k = 0; k < prediction.size(); ++k) {
    sum += term_(static_cast<double>(prediction[k]) - target(prediction.size(), k, label)).value;
  }
  return sum / static_cast<double>(prediction.size());
}

void RegressionLoss::to_probabilities(std::span<const float> prediction, std::span<float> classes) const {
  if (prediction.size() > 1) {
    std::copy(prediction.begin(), prediction.end(), classes.begin());
    return;
  }
  std::fill(classes.begin(), classes.end(), 0.0F);
  const std::int64_t nearest = predicted_class(prediction, std::ssize(classes));
  classes[static_cast<std::size_t>(std::max<std::int64_t>(nearest, 0))] = 1;
}

Settings RegressionLoss::settings() const {
  Settings settings{{"name", name_}};
  weights_.write(settings);
  return settings;
}

}  // namespace

LossPtr make_mean_squared_error(SettingsReader& read) {
  const auto square = [](double error) { return ErrorTerm{error * error, 2 * error}; };
  return std::make_shared<RegressionLoss>("mean_squared_error", square, ClassWeights(read));
}

LossPtr make_mean_absolute_error(SettingsReader& read) {
  const auto absolute = [](double error) {
    return ErrorTerm{error < 0 ? -error : error, double(error > 0) - double(error < 0)};
  };
  return std::make_shared<RegressionLoss>("mean_absolute_error", absolute, ClassWeights(read));
}

}  // namespace convoke::nn
