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

/// Samples to be judged in a training step.
struct Judged {
  const float* outputs = nullptr;  ///< (n, k) of the last layer, before the activation that the loss takes in
  std::int64_t outputs_per_sample = 0;    ///< k
  std::span<const std::int32_t> labels;   ///< (n)
  std::span<const float> sample_weights;  ///< (n), or empty: 1 each
  std::int64_t batch = 0;                 ///< samples of the whole step, of which these are n
  /// For samples that are mixtures, (n) each, or empty: the label counts `shares`, the second one the rest.
  std::span<const std::int32_t> second_labels = {};
  std::span<const float> shares = {};

  /// The label with the larger share of sample i.
  std::int32_t main_label(std::size_t i) const {
    return shares.empty() || shares[i] >= 0.5F ? labels[i] : second_labels[i];
  }
};

/// What n samples add to the figures of a step.
struct LossTally {
  double loss = 0;           ///< sum, not divided
  std::int64_t correct = 0;  ///< samples whose predicted class is the label, of mixtures the larger part's
};

/// What training minimises: the mean over the batch of a function of a sample's outputs and its label, an
/// integer in 0..classes-1. Immutable. A new loss is one class like this and one line in
/// src/nn/losses/loss.cpp.
class Loss {
 public:
  virtual ~Loss() = default;

  /// The options, such that the table makes an equal loss; "name" included.
  virtual Settings settings() const = 0;
  /// The layer that the loss takes in if a network ends in it, because both together are simpler and more
  /// exact: "softmax", "sigmoid", or "" for none. A network that ends without it gives what that layer would
  /// read.
  virtual std::string_view activation() const { return ""; }
  /// Whether `outputs` outputs per sample can be judged with `classes` labels.
  virtual bool fits(std::int64_t outputs, std::int64_t classes) const = 0;
  /// The sum of the losses (of a mixture: those of its two labels, by their shares) and, if `gradient` is not
  /// null, d (sum / batch) / d outputs, (n, k).
  virtual LossTally judge(const Judged& samples, float* gradient) const = 0;
  /// The loss of one prediction (k outputs after the activation), without weights and label smoothing: what
  /// an evaluation reports.
  virtual double of(std::span<const float> prediction, std::int32_t label) const = 0;
  /// The prediction (k outputs after the activation) as probabilities of the classes: what is voted with.
  virtual void to_probabilities(std::span<const float> prediction, std::span<float> classes) const = 0;
};

using LossPtr = std::shared_ptr<const Loss>;

/// Makes the loss that `settings` describe: { name = "softmax_cross_entropy", label_smoothing = 0.1 }. Throws
/// Error for an unknown name (listing the known ones), an unknown key or a value out of range.
LossPtr make_loss(const Settings& settings);
/// Softmax cross-entropy without options.
LossPtr default_loss();

/// What each loss takes; first, without a name, what all of them take.
std::vector<OptionTable> loss_tables();

/// Applies a loss's activation to (n, k) outputs of a network that ends without it, in place.
void apply_activation(const Loss& loss, std::span<float> outputs, std::int64_t outputs_per_sample);

}  // namespace convoke::nn
