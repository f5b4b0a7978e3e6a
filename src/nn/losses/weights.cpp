#include "nn/losses/weights.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::nn {

ClassWeights::ClassWeights(SettingsReader& read)
    : weights_(read.get("class_weights", std::vector<double>{})) {
  const bool good =
      std::all_of(weights_.begin(), weights_.end(), [](double w) { return w >= 0 && std::isfinite(w); });
  if (!good) read.fail("\"class_weights\" must be numbers of at least 0, one for each class");
}

std::array<Target, 2> ClassWeights::of(const Judged& samples, std::size_t i) const {
  const auto weight_of = [&](std::int32_t label) {
    return weights_.empty() ? 1.0F : static_cast<float>(weights_[static_cast<std::size_t>(label)]);
  };
  const std::int32_t label = samples.labels[i];
  const float own = samples.sample_weights.empty() ? 1.0F : samples.sample_weights[i];
  if (samples.shares.empty()) return {Target{label, own * weight_of(label)}, Target{label, 0}};
  const float share = samples.shares[i];
  const std::int32_t second = samples.second_labels[i];
  return {Target{label, own * share * weight_of(label)},
          Target{second, own * (1 - share) * weight_of(second)}};
}

bool ClassWeights::fit(std::int64_t classes) const {
  return weights_.empty() || static_cast<std::int64_t>(weights_.size()) == classes;
}

void ClassWeights::write(Settings& settings) const {
  if (!weights_.empty()) settings.set("class_weights", Value::Array(weights_.begin(), weights_.end()));
}

double read_label_smoothing(SettingsReader& read) {
  const double smoothing = read.get("label_smoothing", 0.0);
  read.check("label_smoothing", smoothing >= 0 && smoothing < 1, "at least 0 and below 1");
  return smoothing;
}

}  // namespace convoke::nn
