#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "convoke/data/augmenter.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data/normalization.hpp"

namespace convoke::data {

/// Assembles micro-batches: gathers samples by id and normalizes numbers as floats. Turns images from
/// (H, W, C) into (C, H, W) and augments them for training. Tokens stay as they are. Stateless and const: any
/// number of threads may use one loader.
class BatchLoader {
 public:
  /// `sample_shape`: as networks see it. `normalization`: one scale and shift per channel or feature; none
  /// for tokens. `augmenter`: for images; null: views are the samples themselves.
  BatchLoader(Split split, Shape sample_shape, Normalization normalization,
              std::shared_ptr<const Augmenter> augmenter = nullptr);

  /// Returns a loader whose load() without a view loads this view, without mixing.
  BatchLoader in_view(const ViewKey& view) const;

  /// Returns a loader of the same samples with these soft labels, see Split.
  BatchLoader with_soft_labels(std::span<const float> soft_labels) const;

  /// Loads uint8 and float32 samples without augmentation. samples: (n, C, H, W), (n, L, F) or (n, F) floats;
  /// labels: n, may be empty. Sizes follow from ids.
  void load(std::span<const std::uint32_t> ids, std::span<float> samples,
            std::span<std::int32_t> labels) const;

  /// Loads the same samples as an epoch of training sees them: augmented and, if mixes(), mixed.
  void load(std::span<const std::uint32_t> ids, std::span<float> samples, const Targets& targets,
            const ViewKey& view) const;
  /// True if a training step needs second labels.
  bool mixes() const { return augmenter_ != nullptr && augmenter_->mixes(); }

  /// Loads int32 samples. tokens: (n, L); labels: n, may be empty.
  void load_tokens(std::span<const std::uint32_t> ids, std::span<std::int32_t> tokens,
                   std::span<std::int32_t> labels) const;

  /// Loads the weight of each sample in the loss: n values; 1 where the dataset has no weights.
  void load_weights(std::span<const std::uint32_t> ids, std::span<float> weights) const;

  /// Returns how many soft labels a sample has; 0: none.
  std::size_t soft_classes() const {
    return split_.labels.empty() ? 0 : split_.soft_labels.size() / split_.labels.size();
  }
  /// Loads the soft labels of each sample: (n, soft_classes()).
  void load_soft_labels(std::span<const std::uint32_t> ids, std::span<float> soft_labels) const;

  const Split& split() const { return split_; }
  /// kInt32: call load_tokens(), else load().
  SampleType sample_type() const { return split_.type(); }

 private:
  void load_pictures(std::span<const std::uint32_t> ids, std::span<float> samples, const ViewKey* view) const;
  void load_labels(std::span<const std::uint32_t> ids, std::span<std::int32_t> labels) const;

  Split split_;
  Shape shape_;
  Normalization normalization_;
  std::shared_ptr<const Augmenter> augmenter_;
  std::optional<ViewKey> view_;  // the view that load() uses if none is given
};

}  // namespace convoke::data
