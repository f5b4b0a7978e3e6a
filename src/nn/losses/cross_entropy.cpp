#include "nn/losses/cross_entropy.hpp"

#include <algorithm>
#include <array>
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

namespace {

struct FocalOptions {
  double gamma = 2;
};
constexpr std::array kFocalKeys{key<&FocalOptions::gamma>(
    {.name = "gamma",
     .range = {.least = 0},
     .help = "how little a confident correct prediction counts: its cross-entropy is multiplied by (1 - "
             "p)^gamma; 0: cross-entropy. `class_weights` are the paper's alpha"})};

Settings with_gamma(Settings cross_entropy, const char* name, double gamma) {
  cross_entropy.set("name", name);
  cross_entropy.set("gamma", gamma);
  return cross_entropy;
}

struct FocalTerm {
  double value;  ///< -(1 - p)^gamma log p
  double slope;  ///< d value / d log p = (1 - p)^gamma (gamma p log p / (1 - p) - 1)
};

// `miss` = 1 - p. The ratio log p / (1 - p) tends to -1 when p tends to 1.
FocalTerm focal(double log_p, double miss, double gamma) {
  const double factor = std::pow(miss, gamma), ratio = miss > 0 ? log_p / miss : -1;
  return {-factor * log_p, factor * (gamma * (1 - miss) * ratio - 1)};
}

// log p, where p = 1 - miss. log1p is exact when p is close to 1, the first argument when p is small.
double log_of_hit(double log_p, double miss) { return miss < 0.5 ? std::log1p(-miss) : log_p; }

}  // namespace

std::vector<KeyDescription> focal_keys() {
  std::vector<KeyDescription> keys = describe_keys(kFocalKeys);
  for (KeyDescription& each : CrossEntropyOptions::keys()) keys.push_back(std::move(each));
  return keys;
}

template <class Focal>
LossPtr make_focal(SettingsReader& read) {
  FocalOptions options;
  read_keys(kFocalKeys, read, options);
  return make_cross_entropy<Focal>(read, options.gamma);
}
template LossPtr make_focal<SoftmaxFocal>(SettingsReader& read);
template LossPtr make_focal<SigmoidFocal>(SettingsReader& read);

Settings SoftmaxFocal::settings() const {
  return with_gamma(SoftmaxCrossEntropy::settings(), "softmax_focal", gamma_);
}

//   loss = sum_c t_c f(p_c),   f(p) = -(1 - p)^gamma log p
//   d loss / d z_k = s_k - p_k sum_c s_c,   s_c = t_c d f / d log p_c
LossSums SoftmaxFocal::compute(const LossInputs& samples, float* gradient) const {
  if (gamma_ == 0) return SoftmaxCrossEntropy::compute(samples, gradient);
  LossSums result;
  const std::int64_t classes = samples.outputs_per_sample;
  const auto batch = static_cast<double>(samples.batch);
  const float* z = samples.outputs;
  for (std::size_t i = 0; i < samples.labels.size(); ++i, z += classes) {
    const std::array<Target, 2> targets = options_.weights.of(samples, i);
    const float* const largest = std::max_element(z, z + classes);
    result.correct += largest - z == samples.main_label(i) ? 1 : 0;
    const auto scaled = [&](std::int64_t k) { return static_cast<double>(z[k] - *largest); };
    double others = 0;  // sum of e^scaled over all classes but the most probable one
    for (std::int64_t k = 0; k < classes; ++k) others += z + k == largest ? 0 : std::exp(scaled(k));
    const double sum = 1 + others, log_sum = std::log(sum);
    const auto probability = [&](std::int64_t k) { return std::exp(scaled(k)) / sum; };
    const double weight = static_cast<double>(targets[0].weight + targets[1].weight);
    const auto target = [&](std::int64_t k) {
      double t = weight * options_.label_smoothing / static_cast<double>(classes);
      for (const Target& each : targets)
        if (each.label == k) t += static_cast<double>(each.weight) * (1 - options_.label_smoothing);
      return t;
    };
    const auto term = [&](std::int64_t k) {
      const double miss = z + k == largest ? others / sum : 1 - probability(k);
      return focal(log_of_hit(scaled(k) - log_sum, miss), miss, gamma_);
    };
    double slopes = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      const double t = target(k);
      if (t == 0) continue;
      const FocalTerm own = term(k);
      result.loss += t * own.value;
      slopes += t * own.slope;
    }
    if (gradient == nullptr) continue;
    for (std::int64_t k = 0; k < classes; ++k) {
      const double t = target(k), own = t == 0 ? 0 : t * term(k).slope;
      *gradient++ = static_cast<float>((own - probability(k) * slopes) / batch);
    }
  }
  return result;
}

double SoftmaxFocal::of(std::span<const float> prediction, std::int32_t label) const {
  const auto p = static_cast<double>(prediction[static_cast<std::size_t>(label)]);
  return std::pow(p >= 0 ? 1 - std::min(p, 1.0) : 1, gamma_) * SoftmaxCrossEntropy::of(prediction, label);
}

Settings SigmoidFocal::settings() const {
  return with_gamma(SigmoidCrossEntropy::settings(), "sigmoid_focal", gamma_);
}

//   loss = mean_k (t f(p) + (1 - t) f(1 - p)),   d log p / d z = 1 - p,   d log(1 - p) / d z = -p
LossSums SigmoidFocal::compute(const LossInputs& samples, float* gradient) const {
  if (gamma_ == 0) return SigmoidCrossEntropy::compute(samples, gradient);
  return sum(samples, gradient, [this](double z) {
    const double log_sum = std::log1p(std::exp(-std::abs(z)));
    const double p = 1 / (1 + std::exp(-z)), miss = 1 / (1 + std::exp(z));
    const FocalTerm yes = focal(std::min(z, 0.0) - log_sum, miss, gamma_);
    const FocalTerm no = focal(std::min(-z, 0.0) - log_sum, p, gamma_);
    return [=](double t) {
      return Term{t * yes.value + (1 - t) * no.value, t * yes.slope * miss - (1 - t) * no.slope * p};
    };
  });
}

double SigmoidFocal::of(std::span<const float> prediction, std::int32_t label) const {
  double sum = 0;
  for (std::size_t k = 0; k < prediction.size(); ++k) {
    const bool is = prediction.size() == 1 ? label == 1 : static_cast<std::int32_t>(k) == label;
    const auto p = static_cast<double>(is ? prediction[k] : 1 - prediction[k]);
    sum += std::pow(p >= 0 ? 1 - std::min(p, 1.0) : 1, gamma_) *
           SigmoidCrossEntropy::of(prediction.subspan(k, 1), is ? 1 : 0);
  }
  return sum / static_cast<double>(prediction.size());
}

}  // namespace convoke::nn
