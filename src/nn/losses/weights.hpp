#pragma once
#include <array>
#include <vector>

#include "convoke/nn/losses/loss.hpp"

namespace convoke::nn {

/// A label, and how much of a sample's loss is that of this label.
struct Target {
  std::int32_t label;
  float weight;
};

/// `class_weights = [...]`: how much a sample of each class counts, as Keras's class_weight: the sum is still
/// divided by the number of samples. Together with the sample's own weight.
class ClassWeights {
 public:
  ClassWeights() = default;
  /// Reads the key; empty if it is absent: 1 each.
  explicit ClassWeights(SettingsReader& read);
  static std::vector<KeyDescription> keys();

  /// What sample i counts: weight and share of its label and of the second one, whose weight is 0 where
  /// samples are not mixed. The loss of the sample is the sum of the losses of the two.
  std::array<Target, 2> of(const Judged& samples, std::size_t i) const;
  /// True if there are none, or one for each class.
  bool fit(std::int64_t classes) const;
  void write(Settings& settings) const;

 private:
  std::vector<double> weights_;
};

/// Reads "label_smoothing", in [0, 1).
double read_label_smoothing(SettingsReader& read);
std::vector<KeyDescription> label_smoothing_keys();

}  // namespace convoke::nn
