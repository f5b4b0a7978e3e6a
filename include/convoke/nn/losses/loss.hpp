#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"

namespace convoke::nn {

/// The outputs of a network for the samples of a training step, and their targets.
struct LossInputs {
  /// (n, k) of the last layer, before the activation that is part of the loss
  const float* outputs = nullptr;
  std::int64_t outputs_per_sample = 0;    ///< k
  std::span<const std::int32_t> labels;   ///< (n)
  std::span<const float> sample_weights;  ///< (n), or empty: 1 each
  std::int64_t batch = 0;                 ///< samples of the whole step; this plan has n of them
  /// For mixtures, (n) each, or empty: `shares` is the share of the label, the second label has the rest.
  std::span<const std::int32_t> second_labels = {};
  std::span<const float> shares = {};
  /// (n), or empty like sample_weights: the weight of the second label's sample
  std::span<const float> second_weights = {};
  std::span<const float> soft_labels = {};  ///< (n, k), the class probabilities of a teacher, or empty
  std::int64_t classes = 0;  ///< labels are 0..classes-1; 0: it is not known how many there are

  /// Returns the label with the larger share of sample i.
  std::int32_t main_label(std::size_t i) const {
    return shares.empty() || shares[i] >= 0.5F ? labels[i] : second_labels[i];
  }
};

/// Sums over n samples, which a step adds up.
struct LossSums {
  double loss = 0;  ///< sum, not divided
  /// samples whose predicted class is the label, for mixtures the label with the larger share
  std::int64_t correct = 0;
};

/// A function of a sample's outputs and its label, an integer in 0..classes-1. Training minimizes its mean
/// over the batch. Immutable. To add a loss, write one class like this and add one line to
/// src/nn/losses/loss.cpp.
class Loss {
 public:
  virtual ~Loss() = default;

  /// Returns the options, "name" included, from which the table makes an equal loss.
  virtual Settings settings() const = 0;
  /// Returns the activation that is part of the loss if a network ends in it, because both together are
  /// simpler and more exact: "softmax", "sigmoid", or "" for none. If a network ends without it, its outputs
  /// are the inputs of that activation.
  virtual std::string_view activation() const { return ""; }
  /// True if `outputs` outputs per sample fit labels of `classes` classes.
  virtual bool fits(std::int64_t outputs, std::int64_t classes) const = 0;
  /// Returns the sum of the losses (for a mixture: the losses of its two labels, weighted by their shares).
  /// If `gradient` is not null, writes d (sum / batch) / d outputs, (n, k), to it.
  virtual LossSums compute(const LossInputs& samples, float* gradient) const = 0;
  /// Returns the loss of one prediction (k outputs after the activation), without weights and label
  /// smoothing. Evaluations report this loss.
  virtual double of(std::span<const float> prediction, std::int32_t label) const = 0;
  /// Converts a prediction (k outputs after the activation) to class probabilities, which votes use.
  virtual void to_probabilities(std::span<const float> prediction, std::span<float> classes) const = 0;
};

using LossPtr = std::shared_ptr<const Loss>;

/// Makes the loss that `settings` describe: { name = "softmax_cross_entropy", label_smoothing = 0.1 }. Throws
/// Error for an unknown name (listing the known ones), an unknown key or a value out of range.
LossPtr make_loss(const Settings& settings);
/// Returns softmax cross-entropy without options.
LossPtr default_loss();

/// Returns the options of each loss. The first table has no name and holds the options of all losses.
std::vector<OptionTable> loss_tables();

/// Applies a loss's activation in place to (n, k) outputs of a network that ends without it.
void apply_activation(const Loss& loss, std::span<float> outputs, std::int64_t outputs_per_sample);

/// Returns a loss that teaches the soft labels of the inputs, q, with the labels (Hinton, Vinyals and Dean,
/// "Distilling the knowledge in a neural network", 2015):
///
///     (1 - w) base + w T^2 (-sum_k q_k log softmax(z / T)_k)
///
/// T^2 keeps the gradients of both parts comparable. `base`: a loss whose activation is "softmax", which also
/// counts the correct predictions and evaluates. `temperature` T > 0, `weight` w in [0, 1]. Every
/// sample must have soft labels.
LossPtr distilled(LossPtr base, double temperature, double weight);

}  // namespace convoke::nn
