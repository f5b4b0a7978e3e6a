#include "nn/losses/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::nn {
namespace {

Settings settings_of(const char* name, const CrossEntropyOptions& options) {
  Settings settings{{"name", name}};
  options.write(settings);
  return settings;
}

// -log p, with p at least 1e-7, as in Keras. NaN counts as the worst prediction, because the comparison
// fails.
double minus_log(float p) { return -std::log(p >= 1e-7F ? static_cast<double>(p) : 1e-7); }

}  // namespace

Settings SoftmaxCrossEntropy::settings() const { return settings_of("softmax_cross_entropy", options_); }

bool SoftmaxCrossEntropy::fits(std::int64_t outputs, std::int64_t classes) const {
  return outputs == classes && options_.weights.fit(classes);
}

//   loss = log sum_k e^z_k - (1 - s) z_label - s mean_k z_k
//   d loss / d z_k = softmax(z)_k - (1 - s) [k = label] - s / K
LossSums SoftmaxCrossEntropy::compute(const LossInputs& samples, float* gradient) const {
  LossSums result;
  const std::int64_t classes = samples.outputs_per_sample;
  const auto smoothing = static_cast<float>(options_.label_smoothing);
  const float* z = samples.outputs;
  for (std::size_t i = 0; i < samples.labels.size(); ++i, z += classes) {
    const std::array<Target, 2> targets = options_.weights.of(samples, i);
    const float* const largest = std::max_element(z, z + classes);
    result.correct += largest - z == samples.main_label(i) ? 1 : 0;
    float sum = 0;
    double mean = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      const float e = std::exp(z[k] - *largest);
      if (gradient != nullptr) gradient[k] = e;
      sum += e;
      mean += static_cast<double>(z[k] - *largest);
    }
    mean /= static_cast<double>(classes);
    for (const auto& [label, weight] : targets) {
      auto target = static_cast<double>(z[label] - *largest);
      if (options_.label_smoothing != 0) target += options_.label_smoothing * (mean - target);
      result.loss += static_cast<double>(weight) * (std::log(static_cast<double>(sum)) - target);
    }
    if (gradient == nullptr) continue;
    const auto batch = static_cast<float>(samples.batch);
    const float share = (targets[0].weight + targets[1].weight) / batch;
    const float scale = share / sum, spread = share * smoothing / static_cast<float>(classes);
    for (std::int64_t k = 0; k < classes; ++k) gradient[k] = gradient[k] * scale - spread;
    for (const auto& [label, weight] : targets) gradient[label] -= weight / batch * (1 - smoothing);
    gradient += classes;
  }
  return result;
}

double SoftmaxCrossEntropy::of(std::span<const float> prediction, std::int32_t label) const {
  return minus_log(prediction[static_cast<std::size_t>(label)]);
}

void SoftmaxCrossEntropy::to_probabilities(std::span<const float> prediction,
                                           std::span<float> classes) const {
  std::copy(prediction.begin(), prediction.end(), classes.begin());
}

Settings SigmoidCrossEntropy::settings() const { return settings_of("sigmoid_cross_entropy", options_); }

bool SigmoidCrossEntropy::fits(std::int64_t outputs, std::int64_t classes) const {
  return (outputs == classes || (outputs == 1 && classes == 2)) && options_.weights.fit(classes);
}

//   loss = mean_k (max(z, 0) - z t + log(1 + e^-|z|)),   d loss / d z_k = (sigmoid(z_k) - t_k) / K
LossSums SigmoidCrossEntropy::compute(const LossInputs& samples, float* gradient) const {
  return sum(samples, gradient, [](double z) {
    const double probability = 1 / (1 + std::exp(-z)), least = std::max(z, 0.0),
                 rest = std::log1p(std::exp(-std::abs(z)));
    return [=](double t) { return Term{least - z * t + rest, probability - t}; };
  });
}

double SigmoidCrossEntropy::of(std::span<const float> prediction, std::int32_t label) const {
  if (prediction.size() == 1) return minus_log(label == 1 ? prediction[0] : 1 - prediction[0]);
  double sum = 0;
  for (std::size_t k = 0; k < prediction.size(); ++k) {
    sum += minus_log(static_cast<std::int32_t>(k) == label ? prediction[k] : 1 - prediction[k]);
  }
  return sum / static_cast<double>(prediction.size());
}

void SigmoidCrossEntropy::to_probabilities(std::span<const float> prediction,
                                           std::span<float> classes) const {
  if (prediction.size() == 1) {
    classes[0] = 1 - prediction[0];
    classes[1] = prediction[0];
    return;
  }
  std::copy(prediction.begin(), prediction.end(), classes.begin());
}

}  // namespace convoke::nn
