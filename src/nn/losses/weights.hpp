#pragma once
#include <array>
#include <vector>

#include "convoke/nn/losses/loss.hpp"

namespace convoke::nn {

/// A label, and the share of a sample's loss that it has.
struct Target {
  std::int32_t label;
  float weight;
};

/// `class_weights = [...]`: the weight of a sample of each class, as Keras' class_weight: the sum is still
/// divided by the number of samples. It is multiplied by the sample's own weight, also in a mixture.
class ClassWeights {
 public:
  ClassWeights() = default;
  /// Reads the key. Without the key, all weights are 1.
  explicit ClassWeights(SettingsReader& read);
  static std::vector<KeyDescription> keys();

  /// Returns the labels of sample i with their weights: the label and the second label, whose weight is 0 if
  /// the sample is not a mixture. The loss of the sample is the sum of the losses of both.
  std::array<Target, 2> of(const LossInputs& samples, std::size_t i) const;
  /// True if there are no weights, or one for each class.
  bool fit(std::int64_t classes) const;
  void write(Settings& settings) const;

 private:
  std::vector<double> weights_;
};

/// The options of cross-entropies and focal losses.
struct CrossEntropyOptions {
  double label_smoothing = 0;    ///< [0, 1)
  std::string outputs = "auto";  ///< what the network's outputs are: see convoke/nn/losses/outputs.hpp
  ClassWeights weights;

  CrossEntropyOptions() = default;
  explicit CrossEntropyOptions(SettingsReader& read);
  /// Returns the keys without that of the weights, which all losses have.
  static std::vector<KeyDescription> keys();
  /// Writes what differs from the defaults.
  void write(Settings& settings) const;
};

}  // namespace convoke::nn
